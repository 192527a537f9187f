// Accesses that begin at multiples of a number of elements.
#pragma once

#include "crosscompile/ir/expr.h"

#include <optional>

namespace ferry::passes {

// Returns where an access begins that advances by one element per iteration of a loop from 0, if that position is a
// multiple of `lanes`.
std::optional<ir::Expr> aligned_begin(const ir::Expr& index, const ir::Expr& var, std::int64_t lanes);

}  // namespace ferry::passes
