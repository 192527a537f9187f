// Index expressions as linear forms over the variables of loops, from which strides and footprints follow.
//
// These are estimates. Divisions and modulos of split loops are exact; otherwise a floor division divides the
// coefficients and a modulo keeps them. Of a minimum or a maximum the side counts that varies.
#pragma once

#include "crosscompile/ir/expr.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace ferry::cost {

struct LinearTerm {
  const ir::ExprNode* var = nullptr;
  double coefficient = 0;
};

struct LinearIndex {
  std::vector<LinearTerm> terms;  // one for each variable; no zero coefficients
  double constant = 0;
  bool reads_memory = false;  // an element of a tensor is part of it, and left out here
  bool is_exact = true;

  double coefficient(const ir::ExprNode* var) const;
  void add(const LinearIndex& other, double factor = 1);
};

// Describes variables: those of loops run from 0 to their extents, others stand for expressions.
struct Variables {
  std::unordered_map<const ir::ExprNode*, double> extents;
  std::unordered_map<const ir::ExprNode*, LinearIndex> definitions;
};

LinearIndex linear_index(const ir::Expr& expr, const Variables& variables);

// Values of variables.
using Values = std::unordered_map<const ir::ExprNode*, double>;

// Returns the value of a scalar integer or bool expression; nothing if it depends on memory or on an unknown variable.
std::optional<double> value_at(const ir::Expr& expr, const Values& values);

}  // namespace ferry::cost
