// The default schedule, for programs without an explicit one, and the other points of the space it is chosen from.
#pragma once

#include "ferry/schedule/point_text.h"
#include "ferry/schedule/schedule.h"
#include "ferry/target/target.h"

#include <cstdint>
#include <map>
#include <string>

namespace ferry::autoschedule {

// Sizes and int64 scalars by name; unknown names are ignored.
using Sizes = std::map<std::string, std::int64_t>;

// Returns a schedule tuned for the target: cheap element-wise stages are inlined; the outermost loop with enough
// iterations is parallel; the axis with the most contiguous accesses is vectorised; reductions use a register tile,
// large contractions are packed and blocked, stencils and stages over the same rows are fused. On a GPU every stage
// that is neither inlined nor an epilogue becomes a kernel of its own. The choice depends on sizes and accesses alone;
// nothing is run. The best choices depend on the sizes; `sizes` may give those that are not constants. The schedule is
// correct for any other sizes too.
schedule::Schedule default_schedule(const lang::Program& program, const Target& target, const Sizes& sizes = {});

// Returns the schedule at a point of the space that the default schedule for these sizes is chosen from; it is correct
// for any other sizes too. Throws CompileError for a stage or a knob that the space does not have, for a value that is
// not among the knob's candidates, and for a schedule that would be legal only at these sizes. The message lists what
// there is to choose from.
schedule::Schedule schedule_at(const lang::Program& program, const Target& target, const Sizes& sizes,
                               const PointText& point);
// Returns the same point with the values of all knobs, a line for each stage. Without named values it is the default
// schedule's.
std::string point_at(const lang::Program& program, const Target& target, const Sizes& sizes = {},
                     const PointText& point = {});

}  // namespace ferry::autoschedule
