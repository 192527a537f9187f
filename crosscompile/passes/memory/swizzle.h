// The positions of the elements of a swizzled buffer (ir/buffer.h). Shared memory has 32 banks of 4 bytes, so 8 pieces
// of 16 bytes can be read at once if they are in 8 different places of a line of 128 bytes:
//
//     line 0    0 1 2 3 4 5 6 7
//     line 1    1 0 3 2 5 4 7 6        piece p of line l is in place p ^ (l % 8)
//     line 2    2 3 0 1 6 7 4 5
//
// Rows of fewer than 8 pieces share a line, and their pieces change places only within their row; longer rows count as
// one line.
#pragma once

#include "crosscompile/ir/expr.h"

namespace ferry::passes {

// Returns the position of the element that would be at `position` in a plain buffer with these rows.
ir::Expr swizzled(const ir::Buffer& buffer, const ir::Expr& position);

// Number of elements that stay together: those of 16 bytes.
std::int64_t swizzled_piece(const ir::Buffer& buffer);

// Returns whether rows of this many elements can be swizzled.
bool can_swizzle(DType type, std::int64_t row);

}  // namespace ferry::passes
