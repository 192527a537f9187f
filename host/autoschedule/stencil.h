// Schedules stencils: reductions over a small window that slides along rows, such as depthwise convolutions and blurs.
#pragma once

#include "ferry/target/target.h"
#include "host/autoschedule/rule.h"

namespace ferry::autoschedule {

// Whether the stage sums few elements around each point, and the stencil slides along the innermost axis, which is
// contiguous in memory, and along the next one: adjacent rows then share most of what they read.
bool is_stencil(const schedule::ScheduledStage& stage);

//     for rows by tile, for columns by vectors
//       for window (unrolled), for the tile's rows (unrolled)
//         row's vector += ...
//
// Knobs: `rows` of a tile; `lanes`; `unroll_window`.
std::optional<Match> match_stencil(const StageContext& context);

}  // namespace ferry::autoschedule
