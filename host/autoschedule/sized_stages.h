// A program's stages specialised to given sizes, for choosing a schedule when the sizes of the calls are known.
#pragma once

#include "ferry/lang/program.h"
#include "ferry/schedule/default_schedule.h"
#include "host/schedule/stages/scheduled_stage.h"

namespace ferry::autoschedule {

// Returns the stages of the program with its symbols replaced by these numbers. Names stay the same, so a directive
// that is legal for one is legal for the other, except where it requires a constant.
schedule::Stages stages_at(const lang::Program& program, const Sizes& sizes);

}  // namespace ferry::autoschedule
