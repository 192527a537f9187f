// Two calls that were measured in turns.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "ferry/client.h"
#include "host/stats/summary.h"

namespace ferry::bench {

// Work takes time: samples of no time tell nothing, wherever they come from.
inline bool takes_time(double seconds) { return seconds > 0 && std::isfinite(seconds); }

// Returns the median of log(time of a / time of b) over the pairs of samples. Without samples, and if one of them took
// no time, it is not a number.
inline double paired_log_ratio(const Timing& a, const Timing& b) {
  std::vector<double> ratios;
  const std::size_t pairs = std::min(a.seconds.size(), b.seconds.size());
  for (std::size_t i = 0; i < pairs; ++i) {
    if (!takes_time(a.seconds[i]) || !takes_time(b.seconds[i])) return std::nan("");
    ratios.push_back(std::log(a.seconds[i] / b.seconds[i]));
  }
  return ratios.empty() ? std::nan("") : stats::median(ratios);
}

}  // namespace ferry::bench
