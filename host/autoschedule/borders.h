// Finds stages that pad a tensor.
#pragma once

#include "host/schedule/stages/scheduled_stage.h"

#include <string>
#include <vector>

namespace ferry::autoschedule {

// Returns stages that only pad a tensor with a constant and are read by windows alone that are unrolled: stencils, and
// windows over channels in blocks. Recomputing these is cheaper than storing them.
std::vector<std::string> borders_to_inline(const schedule::Stages& stages);

}  // namespace ferry::autoschedule
