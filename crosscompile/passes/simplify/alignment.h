// Divisibility of index arithmetic, for all values of its variables.
#pragma once

#include "crosscompile/ir/expr.h"

#include <optional>

namespace ferry::passes {

// Returns whether the expression is certainly a multiple of n: n divides each term of the sum.
bool is_multiple(const ir::Expr& expr, std::int64_t n);

// Returns where an access begins that advances by one element per iteration of a loop from 0, if that position is a
// multiple of `lanes`.
std::optional<ir::Expr> aligned_begin(const ir::Expr& index, const ir::Expr& var, std::int64_t lanes);

}  // namespace ferry::passes
