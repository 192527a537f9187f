// Robust order statistics of samples: median, spread and percentiles. A few outliers change none of them.
#pragma once

#include <span>
#include <vector>

namespace ferry::stats {

std::vector<double> sorted(std::span<const double> samples);

// Interpolates linearly between the two neighbouring samples; fraction 0 is the least sample, 1 the greatest
// (definition 7 of Hyndman and Fan, Sample quantiles in statistical packages, 1996). Returns 0 without samples.
double quantile_of_sorted(std::span<const double> ascending, double fraction);

double median(std::span<const double> samples);
// Returns the median absolute deviation from the median. Times 1.4826 it estimates the standard deviation of normal
// samples.
double median_deviation(std::span<const double> samples);

}  // namespace ferry::stats
