#include "host/autoschedule/winograd_choice.h"

#include "host/autoschedule/default_loops.h"

#include <algorithm>
#include <initializer_list>
#include <limits>

namespace ferry::autoschedule {

namespace {

// A choice must save this share of the time.
constexpr double kWorthwhile = 0.9;
// Times in multiply-adds of one lane, as measured on AVX-512 with 8 to 512 channels and images of 4x4 to 56x56: to
// transform a tile of a channel (the mean of inputs and results), and to load a byte of weights that the second-level
// cache does not hold.
constexpr double kTransform2 = 180, kTransform4 = 510, kByte = 2.7;

// As measured with random inputs and weights and 64 to 512 channels (ferry/ops/winograd.h).
constexpr ErrorRatios error_ratios(std::int64_t tile) {
  return tile == 2 ? ErrorRatios{0.6, 0.5} : ErrorRatios{2.7, 3};
}

double product(std::initializer_list<std::int64_t> factors) {
  double result = 1;
  for (const std::int64_t factor : factors) result *= static_cast<double>(factor);
  return result;
}

// The time to load weights that are read once.
double load_cost(double elements, const Target& target) {
  const double bytes = elements * 4;
  return bytes > static_cast<double>(l2_bytes(target)) * 0.75 ? bytes * kByte : 0;
}

}  // namespace

ConvolutionCosts convolution_costs(const ConvolutionSizes& sizes, std::int64_t lanes, const Target& target,
                                   const ErrorRatios& limit) {
  const auto in_blocks = [&](std::int64_t channels) { return (channels + lanes - 1) / lanes * lanes; };
  const std::int64_t inputs = in_blocks(sizes.channels), outputs = in_blocks(sizes.filters);
  const double direct = product({sizes.images, sizes.height, sizes.width, 9, sizes.channels, outputs}) +
                        load_cost(product({9, sizes.channels, outputs}), target);
  const auto cost = [&](std::int64_t tile, double transform) {
    if (!error_ratios(tile).is_within(limit)) return std::numeric_limits<double>::infinity();
    const std::int64_t points = (tile + 2) * (tile + 2);
    const double tiles = product({sizes.images, (sizes.height + tile - 1) / tile, (sizes.width + tile - 1) / tile});
    return tiles * (product({points, inputs, outputs}) + transform * static_cast<double>(inputs + outputs)) +
           load_cost(product({points, inputs, outputs}), target);
  };
  return {direct, cost(2, kTransform2), cost(4, kTransform4)};
}

WinogradChoice winograd_choice(const ConvolutionSizes& sizes, std::int64_t lanes, const Target& target,
                               const ErrorRatios& limit) {
  if (target.has_thread_blocks()) return {};
  const auto [direct, two, four] = convolution_costs(sizes, lanes, target, limit);
  if (four < kWorthwhile * std::min(direct, two)) return {4, four / direct};
  return two < kWorthwhile * direct ? WinogradChoice{2, two / direct} : WinogradChoice{};
}

}  // namespace ferry::autoschedule
