// Schedules sums of sums of blocks, as block_sums does, whose blocks are products of bytes, by instructions for dot
// products. A stage may unpack one operand from constants of few bits:
//
//     U(w,e,n,g) = W(w,n,g) >> (4 * e) & 15          numbers of four bits
//     S(m,b,n) = sum of i32(x(m,b,w,e,g)) * i32(U(b,w,e,n,g))
//     Y(m,n) = sum of S(m,b,n) * scale(b,n)
//
//     for columns by tile
//       for rows by tile
//         for blocks
//           for words
//             numbers = words, unpacked                             in registers
//             for rows: sums = dot(sums, row, numbers)
//           results += sums * scale
#pragma once

#include "host/autoschedule/rule.h"

#include <optional>

namespace ferry::autoschedule {

// Matches the sums of blocks. Knobs: `tile`, the rows and vectors of the register tile; `ahead`, the bytes that
// constants are prefetched ahead; `parallel`.
std::optional<Match> match_block_dots(const StageContext& context);

}  // namespace ferry::autoschedule
