// Whether the samples suffice: their uncertainty and their drift.
#pragma once

#include <span>

namespace ferry::stats {

// Half the width of median_interval over the median: 0.01 is "known to 1%". Infinite with fewer than
// kLeastForInterval samples or a median of 0.
double relative_uncertainty(std::span<const double> samples);

// Returns the median of the last third over that of the first, minus 1. Warming up, throttling or competing processes
// cause drift. 0 with fewer than 6 samples.
double drift(std::span<const double> samples);

}  // namespace ferry::stats
