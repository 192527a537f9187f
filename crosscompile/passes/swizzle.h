// Where the elements of a swizzled buffer (ir/buffer.h) stand. Shared memory has 32 banks of 4 bytes, so 8 pieces of 16
// bytes can be read at once when they stand in 8 different places of a line of 128 bytes:
//
//     line 0    0 1 2 3 4 5 6 7
//     line 1    1 0 3 2 5 4 7 6        piece p of line l stands in place p ^ (l % 8)
//     line 2    2 3 0 1 6 7 4 5
//
// Rows of fewer than 8 pieces share a line, and change places within their row only; longer ones count as a line.
#pragma once

#include "crosscompile/ir/expr.h"

namespace ferry::passes {

// The position of the element that would stand at `position` in a plain buffer of these rows.
ir::Expr swizzled(const ir::Buffer& buffer, const ir::Expr& position);

// The elements that stay together: 16 bytes of them.
std::int64_t swizzled_piece(const ir::Buffer& buffer);

// Whether rows of so many elements can be swizzled.
bool can_swizzle(DType type, std::int64_t row);

}  // namespace ferry::passes
