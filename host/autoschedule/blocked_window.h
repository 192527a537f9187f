// Schedules small windows that slide over images whose channels are stored in blocks of vectors (NCHWc), each channel
// by itself: depthwise convolutions and pools.
#pragma once

#include "host/autoschedule/rule.h"

namespace ferry::autoschedule {

// Whether the stage reduces few elements around each pixel, all at the innermost index of the result, which is
// contiguous in memory and is not what the window slides along.
bool is_blocked_window(const schedule::ScheduledStage& stage);

// Whether the height or width of such a stage's image is known only at run time. `at_any_size` is as of StageContext.
bool has_open_image(const schedule::ScheduledStage& stage, const schedule::Stages* at_any_size);

// Returns how many sums an element of the image is part of, on average.
double reuse(const schedule::ScheduledStage& stage);

//     for blocks of channels, for rows, for pixels by tile
//       for window (unrolled), for the tile's pixels (unrolled)
//         pixel's vector += ...
//
// Constant filters of an inlined stage are copied in the order of the lanes, once. Borders are inlined: the tiles at
// the edges of the image have code of their own. It is not known which pixels of a tile
// are at an edge where height or width is open: there, the image is padded for one block of channels after the other.
//
// Knobs: `pixels` of a tile; `unroll_window`; `unroll_rows`, if the image is small.
std::optional<Match> match_blocked_window(const StageContext& context);

}  // namespace ferry::autoschedule
