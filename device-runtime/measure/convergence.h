// Decides when a measurement may stop. The client computes its own interval from the samples; this one only has to be
// close to it.
#pragma once

#include <vector>

namespace ferry::device {

// Returns half the width of the median's 95% confidence interval relative to the median, widened if consecutive samples
// are correlated. Infinite if there are too few samples.
double relative_uncertainty(const std::vector<double>& samples);

}  // namespace ferry::device
