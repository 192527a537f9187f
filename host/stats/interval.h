// Where the true median lies, with 95% confidence.
#pragma once

#include <cstdint>
#include <span>

namespace ferry::stats {

struct Interval {
  double low = 0;
  double high = 0;
  bool contains(double value) const { return low <= value && value <= high; }
};

inline constexpr double kConfidence = 0.95;
// With fewer samples nothing is said: the least and the greatest do not enclose the median often enough.
inline constexpr std::size_t kLeastForInterval = 6;

// The interval that ferry prints. Its ends are samples (between two, in proportion), as in the sign test's interval,
// which needs no assumption about the distribution; how many samples they lie from the middle follows from how much
// the count of samples below the median varies over time, so that neighbours that resemble each other (a frequency
// that drifts, a job beside ours) widen it. That variance is the mean of the squared cosine transforms at the lowest
// K frequencies, and the quantile that of Student's t with K degrees of freedom (equally weighted cosines: Lazarus,
// Lewis, Stock and Watson, HAR inference: recommendations for practice, Journal of Business and Economic Statistics
// 36:4, 2018), with K = 0.4 n^(2/3) but at most 8, which keeps the coverage where the correlation is strong.
// `samples` in the order in which they were taken; the whole range below kLeastForInterval.
Interval median_interval(std::span<const double> samples);

// The percentile bootstrap of the median (Efron, 1979): resamples with replacement as if the order meant nothing. It
// is what other tools print; on times that drift it is far too narrow (docs/measuring.md has figures).
Interval bootstrap_interval(std::span<const double> samples, std::uint64_t seed, int resamples = 2000);

}  // namespace ferry::stats
