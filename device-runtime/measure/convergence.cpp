#include "device-runtime/measure/convergence.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ferry::device {
namespace {

constexpr std::size_t kLeastSamples = 6;
// Half of the 1.96 standard deviations that contain 95% of a normal distribution, with a margin for the estimate.
constexpr double kReach = 1.1;

}  // namespace

double relative_uncertainty(const std::vector<double>& samples) {
  const std::size_t count = samples.size();
  if (count < kLeastSamples) return HUGE_VAL;
  std::vector<double> ascending = samples;
  // Heap sort needs less code than std::sort and is fast enough for occasional use.
  std::make_heap(ascending.begin(), ascending.end());
  std::sort_heap(ascending.begin(), ascending.end());
  const double median = ascending[count / 2];
  double alike = 0;
  for (std::size_t i = 1; i < count; ++i) {
    alike += (samples[i] < median) == (samples[i - 1] < median) ? 1 : -1;
  }
  const double correlation = std::clamp(alike / static_cast<double>(count - 1), 0.0, 0.9);
  const double widened = std::sqrt((1 + correlation) / (1 - correlation));
  const auto reach = static_cast<std::size_t>(kReach * widened * std::sqrt(static_cast<double>(count)));
  const double low = ascending[count / 2 - std::min(reach, count / 2)];
  const double high = ascending[std::min(count / 2 + reach, count - 1)];
  return median > 0 ? (high - low) / 2 / median : HUGE_VAL;
}

}  // namespace ferry::device
