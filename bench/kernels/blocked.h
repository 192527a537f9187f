// Converts images and filters between NCHW and blocks of 16 channels.
#pragma once

#include <cstdint>

namespace ferry::bench {

inline constexpr std::int64_t kChannelBlock = 16;

// (c,pixels) to (c/16,pixels,16), and back.
void block_image(const float* plain, float* blocked, std::int64_t channels, std::int64_t pixels);
void unblock_image(const float* blocked, float* plain, std::int64_t channels, std::int64_t pixels);
// (o,c,taps) to (o/16,c/16,taps,c%16,o%16).
void block_filter(const float* plain, float* blocked, std::int64_t filters, std::int64_t channels, std::int64_t taps);

}  // namespace ferry::bench
