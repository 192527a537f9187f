// Schedules stages that read along another axis than they write.
#pragma once

#include <cstdint>

#include "host/autoschedule/rule.h"

namespace ferry::autoschedule {

// Returns how many rows and lanes a tile has that code generation transposes in registers, for vectors of this many
// lanes. Vectors of narrow elements have more lanes than that: the code of a tile grows with their product, and one of
// 16 by 16 is as fast as a larger one.
std::int64_t transposed_tile(std::int64_t lanes);

//     for i                        for i, j by tiles
//       for j               ->       for a tile's rows (unrolled)
//         B[i,j] = A[j,i]              B[lanes, row] = A[row, lanes]
//
// The axis that is read is vectorised, and as many vectors are unrolled as a tile has lanes: code generation
// transposes the tile in registers. Stages for which such tiles would mostly be tails are left to other rules, unless
// their last axis has two or four elements, which a tile then has as rows.
//
// Knobs: `tile`, the number of unrolled rows and of lanes.
std::optional<Match> match_transposed(const StageContext& context);

}  // namespace ferry::autoschedule
