// The default schedule, for programs without an explicit one.
#pragma once

#include "ferry/target/target.h"
#include "host/autoschedule/sized_stages.h"
#include "host/schedule/schedule.h"

namespace ferry::autoschedule {

// Returns a schedule tuned for the target: cheap element-wise stages inline; the outermost loop with enough iterations
// parallel; the axis with the most contiguous accesses vectorised; reductions in a register tile, large products packed
// and blocked, stencils and stages over the same rows fused. On a GPU every stage that is not inlined or an epilogue
// becomes a kernel of its own. Each choice is the default point of a space (decisions.h). The choice depends on sizes
// and accesses only; nothing is run. The best choices depend on the sizes; `sizes` may give those that are not
// constants. The schedule is correct for any other sizes too.
schedule::Schedule default_schedule(const lang::Program& program, const Target& target, const Sizes& sizes = {});

}  // namespace ferry::autoschedule
