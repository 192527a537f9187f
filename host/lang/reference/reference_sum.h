// Sums of floats in a reference program: the sum, and companion sums of magnitudes, squares and errors over the same
// points, from which follows how far a correct kernel's sum may be from it (float_sum.h).
#pragma once

#include "crosscompile/ir/expr.h"
#include "host/lang/reference/bounded_expr.h"
#include "host/lang/reference/reference.h"

#include <functional>
#include <optional>
#include <vector>

namespace ferry::lang {

// The terms of a sum, in float64.
struct SumTerms {
  ir::Expr value;
  ir::Expr error;                           // undefined if the scale is known
  std::optional<BoundedExpr::Scale> scale;  // as of BoundedExpr, of the rounded term
  // If the terms are products of two elements: their values, magnitudes or squares, as the variable `power` says, so
  // that one contraction computes the sums of all. Otherwise undefined.
  ir::Expr products;
};

// Returns a tensor whose first index chooses between the elements of another in f64 (0), their magnitudes (1), and
// their squares (2, unless nobody needs them). The elements are converted by these casts, the innermost first.
using FindPowers = std::function<ir::BufferRef(const ir::BufferRef&, const std::vector<DType>& casts)>;

// Returns the terms of a sum of `source`. A product of two elements is left unrounded.
SumTerms terms_of(const ir::Expr& source, const ir::Expr& power, BoundedExprs& exprs, const FindPowers& find);

// The sums over all terms, the start included.
struct CompanionSums {
  ir::Expr value, size, square;
  ir::Expr error, squared_error;  // undefined if the scale is known
  ir::Expr has_large_errors;      // undefined if the scale is known
  std::optional<BoundedExpr::Scale> scale;
  ir::Expr count;  // f64
};

// Whether a term's error is more than that of an operation or two, see FloatSum.
ir::Expr is_large_error(const ir::Expr& value, const ir::Expr& error, DType accumulator);

// Returns the sum rounded to `type` with its error.
BoundedExpr sum_of(const CompanionSums& sums, DType accumulator, DType type, RoundingBound bound);

}  // namespace ferry::lang
