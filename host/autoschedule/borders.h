// Finds stages that pad a tensor.
#pragma once

#include "host/schedule/stages/scheduled_stage.h"

#include <string>
#include <vector>

namespace ferry::autoschedule {

// Returns stages that only pad a tensor with a constant and are read by windows alone that are unrolled: stencils, and
// windows over channels in blocks. Recomputing these is cheaper than storing them. `at_any_size` are the program's
// stages with extents that are symbols for which the schedule must be legal too; null: there are none. Borders that
// attached_border() returns are left out then.
std::vector<std::string> borders_to_inline(const schedule::Stages& stages, const schedule::Stages* at_any_size);

// Returns the stage that pads the image of a window over channels in blocks whose height or width is open, if the
// window alone reads it; empty if there is none. Where the borders are among a tile's pixels is known only at run time,
// so that inlined each pixel would test it. A block of channels at a time is padded instead.
std::string attached_border(const schedule::Stages& stages, const schedule::ScheduledStage& window,
                            const schedule::Stages& at_any_size);

}  // namespace ferry::autoschedule
