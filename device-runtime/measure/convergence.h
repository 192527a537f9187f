// When a measurement may stop. The client computes its own interval from the samples; this only has to be near it.
#pragma once

#include <vector>

#include "rpc/messages.h"

namespace ferry::device {

// Half the width of the median's 95% interval over the median, wider when neighbours resemble each other. Infinite
// while there are too few samples to tell.
double relative_uncertainty(const std::vector<rpc::Sample>& samples);

}  // namespace ferry::device
