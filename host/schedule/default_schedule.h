// A schedule for programs that come without one.
#pragma once

#include "crosscompile/target/target.h"
#include "host/schedule/schedule.h"

namespace ferry::schedule {

// Good for the target without being asked: cheap element-wise stages inline; the outermost loop with enough iterations
// parallel; the axis with the most contiguous accesses vectorised; reductions in a register tile. Only reads sizes and
// accesses, runs nothing.
Schedule default_schedule(const lang::Program& program, const Target& target);

}  // namespace ferry::schedule
