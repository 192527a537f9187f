// Replaces the indices of every Load and Store by one: the element's position from the start of the buffer, row-major
// or by the buffer's own strides; an element of a rank-0 buffer is at 0.
//
// Before: any number of indices, scalar or vector. A Ramp in one dimension comes out as one Ramp (stride 1 when it ran
// over the last dimension of a dense buffer). Stands late because every pass before it reasons about one dimension at a
// time (bounds, independence of lanes, the extra dimension that vectorize gives a private buffer). Only address
// arithmetic is left to simplify after it.
#pragma once

#include "crosscompile/ir/function.h"

#include <vector>

namespace ferry::passes {

ir::Function flatten(ir::Function function);

// The position of the element with these indices; a single one that the buffer has no dimension for is that already.
ir::Expr linear_index(const ir::Buffer& buffer, const std::vector<ir::Expr>& indices);

}  // namespace ferry::passes
