// Decides which stages are inlined.
#pragma once

#include "host/schedule/stages/scheduled_stage.h"

#include <string>
#include <vector>

namespace ferry::autoschedule {

// Returns the names of stages that only copy or convert elements, and of those that are read once for each element of
// their only reader: recomputing them costs no more than storing them. Results and reductions are never among them, and
// chains of inlined stages are limited so that expressions are not nested too deeply. `borders` are stages that are
// inlined into windows (borders.h), so that each of their elements is read several times.
std::vector<std::string> stages_to_inline(const schedule::Stages& stages, const std::vector<std::string>& borders = {});

}  // namespace ferry::autoschedule
