// What index arithmetic is a multiple of, whatever its variables are.
#pragma once

#include "crosscompile/ir/expr.h"

#include <optional>

namespace ferry::passes {

// Whether it is one of n for certain: n divides each term of the sum.
bool is_multiple(const ir::Expr& expr, std::int64_t n);

// Where an access that moves one element an iteration of a loop from 0 begins, if that is a multiple of `lanes`.
std::optional<ir::Expr> aligned_begin(const ir::Expr& index, const ir::Expr& var, std::int64_t lanes);

}  // namespace ferry::passes
