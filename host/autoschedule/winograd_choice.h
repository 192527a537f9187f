// Estimates whether Winograd convolution is faster than direct convolution. It rounds differently
// (ferry/ops/winograd.h), so the choice belongs to the code that builds the program, not to a schedule.
#pragma once

#include "ferry/error_ratios.h"
#include "ferry/target/target.h"

#include <cstdint>

namespace ferry::autoschedule {

// A convolution of 3x3 with a stride of 1.
struct ConvolutionSizes {
  std::int64_t images = 1, channels = 1, filters = 1;
  std::int64_t height = 1, width = 1;  // the results' size
};

// Estimated times of its algorithms, in multiply-adds of one lane; infinity: the errors may exceed the limit.
struct ConvolutionCosts {
  double direct = 0, winograd2 = 0, winograd4 = 0;  // the last two with tiles of 2 and of 4
};

// `lanes` are the channels in a block. For CPUs.
ConvolutionCosts convolution_costs(const ConvolutionSizes& sizes, std::int64_t lanes, const Target& target,
                                   const ErrorRatios& limit = kMaxErrorRatios);

struct WinogradChoice {
  std::int64_t tile = 0;
  double share = 1;  // estimated time, in that of a direct convolution
};

// Returns the tile, 2 or 4, of the fastest Winograd convolution of tensors in blocks of `lanes` channels whose errors
// are within the limit; 0 if a direct one is as fast, or nearly. Tiles of 4 have larger errors and must be faster by as
// much.
WinogradChoice winograd_choice(const ConvolutionSizes& sizes, std::int64_t lanes, const Target& target,
                               const ErrorRatios& limit = kMaxErrorRatios);
inline std::int64_t winograd_tile(const ConvolutionSizes& sizes, std::int64_t lanes, const Target& target,
                                  const ErrorRatios& limit = kMaxErrorRatios) {
  return winograd_choice(sizes, lanes, target, limit).tile;
}

}  // namespace ferry::autoschedule
