// Divisibility of index arithmetic, for all values of its variables.
#pragma once

#include "crosscompile/ir/expr.h"

namespace ferry::analysis {

// Returns whether the expression is certainly a multiple of n: n divides each term of the sum.
bool is_multiple(const ir::Expr& expr, std::int64_t n);

}  // namespace ferry::analysis
