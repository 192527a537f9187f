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

#include "ferry/target/target.h"
#include "host/autoschedule/rule.h"

#include <optional>
#include <string>

namespace ferry::autoschedule {

// Returns the sum of the stage's sums of blocks, or nothing if the stage has none: it is a sum, with one reader, which
// adds up its elements along one of its axes.
std::optional<std::string> sum_of_blocks(const schedule::Stages& stages, const schedule::ScheduledStage& stage,
                                         const Target& target);

// Knobs: `tile`, the rows and vectors of the register tile; `ahead`, the bytes that constants are prefetched ahead.
std::optional<Match> match_block_sums(const StageContext& context);

}  // namespace ferry::autoschedule
