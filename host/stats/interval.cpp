#include "ferry/stats/interval.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "host/stats/random.h"
#include "host/stats/student_t.h"
#include "host/stats/summary.h"

namespace ferry::stats {
namespace {

constexpr double kPi = 3.141592653589793;
constexpr int kMostCosines = 8;

int cosine_count(std::size_t samples) {
  const double wish = std::round(0.4 * std::pow(static_cast<double>(samples), 2.0 / 3.0));
  return std::clamp(static_cast<int>(wish), 2, kMostCosines);
}

// 0.5 for each sample below the median and -0.5 for each above: a series around 0 whose sum over time varies as the
// number of samples below the true median does.
std::vector<double> signs(std::span<const double> samples, double middle) {
  std::vector<double> series;
  series.reserve(samples.size());
  for (const double sample : samples) series.push_back(sample < middle ? 0.5 : sample > middle ? -0.5 : 0.0);
  return series;
}

double long_run_variance(std::span<const double> series, int cosines) {
  const auto count = static_cast<double>(series.size());
  double sum = 0;
  for (int j = 1; j <= cosines; ++j) {
    double transform = 0;
    for (std::size_t t = 0; t < series.size(); ++t) {
      transform += series[t] * std::cos(kPi * j * (static_cast<double>(t) + 0.5) / count);
    }
    sum += transform * transform * 2 / count;
  }
  return sum / cosines;
}

}  // namespace

Interval median_interval(std::span<const double> samples) {
  if (samples.size() < kLeastForInterval) return {0, std::numeric_limits<double>::infinity()};
  const std::vector<double> ascending = sorted(samples);
  const int cosines = cosine_count(samples.size());
  const double variance = long_run_variance(signs(samples, quantile_of_sorted(ascending, 0.5)), cosines);
  const double quantile = student_t_quantile((1 + kConfidence) / 2, cosines);
  const auto last = static_cast<double>(samples.size() - 1);
  const double reach = quantile * std::sqrt(static_cast<double>(samples.size()) * variance) / last;
  return {quantile_of_sorted(ascending, 0.5 - reach), quantile_of_sorted(ascending, 0.5 + reach)};
}

Interval bootstrap_interval(std::span<const double> samples, std::uint64_t seed, int resamples) {
  if (samples.empty()) return {};
  Random random(seed);
  std::vector<double> medians, drawn(samples.size());
  medians.reserve(static_cast<std::size_t>(resamples));
  for (int i = 0; i < resamples; ++i) {
    for (double& sample : drawn) sample = samples[random.below(samples.size())];
    const auto middle = drawn.begin() + static_cast<std::ptrdiff_t>(drawn.size() / 2);
    std::nth_element(drawn.begin(), middle, drawn.end());
    const double upper = *middle;
    const double lower = drawn.size() % 2 == 1 ? upper : *std::max_element(drawn.begin(), middle);
    medians.push_back((lower + upper) / 2);
  }
  std::sort(medians.begin(), medians.end());
  return {quantile_of_sorted(medians, (1 - kConfidence) / 2), quantile_of_sorted(medians, (1 + kConfidence) / 2)};
}

}  // namespace ferry::stats
