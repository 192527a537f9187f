// What samples say by their order alone: the middle, the spread, the percentiles. A few wild samples move none of them.
#pragma once

#include <span>
#include <vector>

namespace ferry::stats {

std::vector<double> sorted(std::span<const double> samples);

// Between the two samples beside the place, in proportion; fraction 0 is the least sample, 1 the greatest (definition 7
// of Hyndman and Fan, Sample quantiles in statistical packages, 1996). 0 without samples.
double quantile_of_sorted(std::span<const double> ascending, double fraction);

double median(std::span<const double> samples);
// The median of the distances to the median. Times 1.4826 it is the standard deviation of normal samples.
double median_deviation(std::span<const double> samples);

}  // namespace ferry::stats
