// A schedule for programs that come without one.
#pragma once

#include "crosscompile/target/target.h"
#include "host/schedule/schedule.h"
#include "host/schedule/sized_stages.h"

namespace ferry::schedule {

// Good for the target without being asked: cheap element-wise stages inline; the outermost loop with enough iterations
// parallel; the axis with the most contiguous accesses vectorised; reductions in a register tile, large products packed
// and blocked, windows and stages over the same rows fused. On a GPU as gpu_schedule.h says. Only reads sizes and
// accesses, runs nothing.
//
// What pays depends on the sizes: those that are not constants may be said in `sizes`. The schedule is right at any
// others too.
Schedule default_schedule(const lang::Program& program, const Target& target, const Sizes& sizes = {});

}  // namespace ferry::schedule
