// Two calls that were measured in turns.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "ferry/client.h"
#include "host/stats/summary.h"

namespace ferry::bench {

// Returns the median of log(time of a / time of b) over the pairs of samples; 0 without samples.
inline double paired_log_ratio(const Timing& a, const Timing& b) {
  std::vector<double> ratios;
  const std::size_t pairs = std::min(a.seconds.size(), b.seconds.size());
  for (std::size_t i = 0; i < pairs; ++i) {
    if (a.seconds[i] > 0 && b.seconds[i] > 0) ratios.push_back(std::log(a.seconds[i] / b.seconds[i]));
  }
  return stats::median(ratios);
}

}  // namespace ferry::bench
