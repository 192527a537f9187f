// Linear forms of index expressions over chosen variables, and the bounds that follow from them.
#pragma once

#include "crosscompile/ir/expr.h"

#include <optional>
#include <span>
#include <vector>

namespace ferry::analysis {

// coefficient * var + rest, where rest does not use var.
struct Affine {
  std::int64_t coefficient = 0;
  ir::Expr rest;
};

// Returns nothing when the scalar index expression is not affine in the variable with a constant coefficient.
std::optional<Affine> affine_in(const ir::Expr& expr, const ir::Expr& var);

// A variable and the values that it takes: from min to min + extent - 1.
struct Range {
  ir::Expr var, min, extent;
};

// Returns a bound of `expr` over all values of the variables, as an expression without them; nothing when none is
// found, or when the expression may wrap. Other variables count as sizes: the caller looks for data (wrapping.h). The
// last range is eliminated first and may depend on the ones before it.
std::optional<ir::Expr> lower_bound(const ir::Expr& expr, std::span<const Range> ranges);
std::optional<ir::Expr> upper_bound(const ir::Expr& expr, std::span<const Range> ranges);

// Returns an upper bound on how much `expr` varies over all values of the variables; nothing when that is not a
// constant.
std::optional<std::int64_t> variation(const ir::Expr& expr, std::span<const Range> ranges);

// Returns whether the expression consists only of arithmetic on variables and constants: no memory accesses, no calls.
bool is_arithmetic(const ir::Expr& expr);

}  // namespace ferry::analysis
