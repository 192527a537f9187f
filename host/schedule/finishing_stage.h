// Stages that finish what a reduction adds up: a bias, an activation.
#pragma once

#include "host/schedule/stages/scheduled_stage.h"

#include <string>

namespace ferry::schedule {

// The one stage that reads this one, element by element in the same places, so that its results can be finished while
// they are in registers; empty when there is none.
std::string finishing_stage(const Stages& stages, const ScheduledStage& stage);

}  // namespace ferry::schedule
