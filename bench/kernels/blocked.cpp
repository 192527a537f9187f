#include "bench/kernels/blocked.h"

namespace ferry::bench {
namespace {

std::int64_t place_in_blocks(std::int64_t channel, std::int64_t pixel, std::int64_t pixels) {
  return (channel / kChannelBlock * pixels + pixel) * kChannelBlock + channel % kChannelBlock;
}

}  // namespace

void block_image(const float* plain, float* blocked, std::int64_t channels, std::int64_t pixels) {
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t p = 0; p < pixels; ++p) blocked[place_in_blocks(c, p, pixels)] = plain[c * pixels + p];
  }
}

void unblock_image(const float* blocked, float* plain, std::int64_t channels, std::int64_t pixels) {
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t p = 0; p < pixels; ++p) plain[c * pixels + p] = blocked[place_in_blocks(c, p, pixels)];
  }
}

void block_filter(const float* plain, float* blocked, std::int64_t filters, std::int64_t channels, std::int64_t taps) {
  for (std::int64_t o = 0; o < filters; ++o) {
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t t = 0; t < taps; ++t) {
        const std::int64_t outer = (o / kChannelBlock * (channels / kChannelBlock) + c / kChannelBlock) * taps + t;
        const std::int64_t inner = c % kChannelBlock * kChannelBlock + o % kChannelBlock;
        blocked[outer * kChannelBlock * kChannelBlock + inner] = plain[(o * channels + c) * taps + t];
      }
    }
  }
}

}  // namespace ferry::bench
