// Chooses how many neighbouring pixels of a row a tile computes where a small window slides over an image and each
// pixel is one vector.
#pragma once

#include "ferry/target/target.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <cstdint>

namespace ferry::autoschedule {

struct SlidingWindow {
  std::int64_t height = 1, width = 1;  // points; the width is that along the rows of the image
  std::int64_t stride = 1;             // along the rows
  bool has_filters = false;            // each point is multiplied by a vector that all pixels share
};

// Returns the window of a stage whose last axes are the pixels of a row and the lanes of a vector. Its reduction has
// constant extents.
SlidingWindow sliding_window(const schedule::ScheduledStage& stage);

// Returns the number of pixels, at most `most`, with which a row of `row` pixels takes the fewest instructions, by an
// estimate:
//
// - Each point of the window is a multiply-add for each pixel.
// - An element of the image that several pixels of the tile read is loaded once as long as there are registers for an
//   element and a sum of each pixel; the others are loaded again.
// - Filters stay in registers over all tiles if there are registers for them too. Otherwise each tile loads them.
//
// Tiles of fewer pixels than a multiply-add takes cycles wait for their sums. A shorter last tile costs more than its
// instructions.
std::int64_t choose_window_tile(std::int64_t row, const SlidingWindow& window, std::int64_t most, const Target& target);

}  // namespace ferry::autoschedule
