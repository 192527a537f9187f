// Schedules stages that read along another axis than they write.
#pragma once

#include "host/autoschedule/rule.h"

namespace ferry::autoschedule {

//     for i                        for i, j by tiles
//       for j               ->       for a tile's rows (unrolled)
//         B[i,j] = A[j,i]              B[lanes, row] = A[row, lanes]
//
// The axis that is read is vectorised, and as many vectors are unrolled as there are lanes: code generation transposes
// the tile in registers. Stages for which such tiles would mostly be tails are left to other rules.
//
// Knobs: `tile`, the number of unrolled rows and of lanes.
std::optional<Match> match_transposed(const StageContext& context);

}  // namespace ferry::autoschedule
