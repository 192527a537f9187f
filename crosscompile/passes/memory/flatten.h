// Replaces the indices of every Load and Store by a single one: the element's position from the start of the buffer,
// row-major or according to the buffer's own strides; the element of a rank-0 buffer is at 0.
//
// Accepts any number of indices, scalar or vector. A Ramp in one dimension becomes one Ramp (with stride 1 when it ran
// over the last dimension of a dense buffer). Runs late because every pass before it reasons about one dimension at a
// time (bounds, independence of lanes, the extra dimension that vectorize gives a private buffer). Only address
// arithmetic is left to simplify after it.
#pragma once

#include "crosscompile/ir/function.h"

#include <vector>

namespace ferry::passes {

ir::Function flatten(ir::Function function);

// Returns the position of the element with these indices; a single index for which the buffer has no dimension is the
// position already.
ir::Expr linear_index(const ir::Buffer& buffer, const std::vector<ir::Expr>& indices);

}  // namespace ferry::passes
