// Linear forms of index expressions over chosen variables, and what follows for their bounds.
#pragma once

#include "crosscompile/ir/expr.h"

#include <optional>
#include <span>
#include <vector>

namespace ferry::passes {

// coefficient * var + rest, where rest does not use var.
struct Affine {
  std::int64_t coefficient = 0;
  ir::Expr rest;
};

// Nothing when the scalar index expression is not affine in the variable with a constant coefficient.
std::optional<Affine> affine_in(const ir::Expr& expr, const ir::Expr& var);

// A variable with the values it takes: from min to min + extent - 1.
struct Range {
  ir::Expr var, min, extent;
};

// A lower bound of `expr` over all values of the variables, without them; nothing when none is found. The last range is
// replaced first and may depend on the ones before it.
std::optional<ir::Expr> lower_bound(const ir::Expr& expr, std::span<const Range> ranges);
std::optional<ir::Expr> upper_bound(const ir::Expr& expr, std::span<const Range> ranges);

// By how much `expr` may vary over all values of the variables; nothing when that is not a constant.
std::optional<std::int64_t> variation(const ir::Expr& expr, std::span<const Range> ranges);

// Whether all of it is arithmetic on variables and constants: no memory, no calls.
bool is_arithmetic(const ir::Expr& expr);

}  // namespace ferry::passes
