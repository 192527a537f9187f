// Confidence intervals of the median, at 95%.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

namespace ferry::stats {

struct Interval {
  double low = 0;
  double high = 0;  // infinite: too few samples tell nothing
  bool contains(double value) const { return low <= value && value <= high; }
  bool is_known() const { return std::isfinite(high); }
};

inline constexpr double kConfidence = 0.95;
// With fewer samples there is no interval: the least and the greatest do not enclose the median often enough.
inline constexpr std::size_t kLeastForInterval = 6;

// Returns the interval that ferry prints. As in the sign test's interval, which needs no assumption about the
// distribution, its ends are order statistics, interpolated linearly. Their distance from the middle follows from how
// much the count of samples below the median varies over time, so that autocorrelation (a frequency that drifts, a
// competing process) widens the interval. That variance is the mean of the squared cosine transforms at the lowest K
// frequencies, and the quantile that of Student's t with K degrees of freedom (equally weighted cosines: Lazarus,
// Lewis, Stock and Watson, HAR inference: recommendations for practice, Journal of Business and Economic Statistics
// 36:4, 2018), with K = 0.4 n^(2/3) but at most 8, which keeps the coverage where the correlation is strong. `samples`
// are in the order in which they were taken; below kLeastForInterval the interval is from 0 to infinity.
Interval median_interval(std::span<const double> samples);

// Returns the percentile bootstrap of the median (Efron, 1979): it resamples with replacement, ignoring the order.
// Other tools print it; for times that drift it is far too narrow (docs/measuring.md has figures).
Interval bootstrap_interval(std::span<const double> samples, std::uint64_t seed, int resamples = 2000);

}  // namespace ferry::stats
