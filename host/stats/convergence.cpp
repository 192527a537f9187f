#include "host/stats/convergence.h"

#include <limits>

#include "ferry/stats/interval.h"
#include "host/stats/summary.h"

namespace ferry::stats {

double relative_uncertainty(std::span<const double> samples) {
  const double middle = median(samples);
  if (samples.size() < kLeastForInterval || middle <= 0) return std::numeric_limits<double>::infinity();
  const Interval interval = median_interval(samples);
  return (interval.high - interval.low) / 2 / middle;
}

double drift(std::span<const double> samples) {
  const std::size_t third = samples.size() / 3;
  if (third < 2) return 0;
  const double before = median(samples.first(third)), after = median(samples.last(third));
  return before > 0 ? after / before - 1 : 0;
}

}  // namespace ferry::stats
