// Schedules a window over an image whose channels are in blocks, each channel by itself, together with the contraction
// that computes the image, as a depthwise convolution after a pointwise one: a block of its rows and channels stays in
// the caches, and the image never reaches memory.
//
//     for block of rows, for blocks of channels, in threads
//       for rows, for pixels by tile                    # those that the block's windows reach: a few rows twice
//         for depth: image tile += row * column         # with its epilogues
//       for blocks of channels, for rows, for pixels by tile
//         for window: tile += image * filter            # with its epilogues
#pragma once

#include "ferry/target/target.h"
#include "host/autoschedule/rule.h"

#include <cstdint>

namespace ferry::autoschedule {

// Matches the window. Knobs: `rows` of a block, 0 for stages of their own; `tile`, pixels and blocks of channels of the
// image's register tile; `window_pixels` of the window's. Other rules take the stages if they are not fused.
std::optional<Match> match_fused_window(const StageContext& context);

// Whether fusing both takes less time than storing an image of so many bytes: whether it exceeds a quarter of the
// second-level cache.
bool wants_fused_window(std::int64_t image_bytes, const Target& target);

}  // namespace ferry::autoschedule
