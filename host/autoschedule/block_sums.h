// Schedules sums of sums of blocks, as in products with weights of few bits, whose blocks have a scale each:
//
//     S(m,b,n) = sum of x(m,b,k) * w(b,k,n)          sums of blocks
//     Y(m,n) = sum of S(m,b,n) * scale(b,n)
//
//     for columns by tile
//       for rows by tile
//         for blocks
//           for the block's steps: sums += row * column             in registers
//           results += sums * scale
#pragma once

#include "host/autoschedule/rule.h"

#include <optional>

namespace ferry::autoschedule {

// Knobs: `tile`, the rows and vectors of the register tile; `ahead`, the bytes that constants are prefetched ahead.
std::optional<Match> match_block_sums(const StageContext& context);

}  // namespace ferry::autoschedule
