// Finds the epilogue of a reduction: a stage that adds a bias or applies an activation, for example.
#pragma once

#include "host/schedule/stages/scheduled_stage.h"

#include <string>

namespace ferry::autoschedule {

// Returns the only stage that reads this one, element by element at the same indices, so that it can be applied while
// the results are in registers; empty if there is none.
std::string epilogue_stage(const schedule::Stages& stages, const schedule::ScheduledStage& stage);

}  // namespace ferry::autoschedule
