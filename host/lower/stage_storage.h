// The memory of a stage that lowering allocates: its extents, its scope, and where the stage's points lie in it.
#pragma once

#include "host/lower/bounds.h"
#include "host/lower/nest.h"

#include <vector>

namespace ferry::lower {

// Whether the stage is computed inside another stage's loops by thread loops of its own. Its memory is shared then,
// unless the schedule says otherwise.
bool threads_compute(const schedule::ScheduledStage& stage);

// Returns the storage of one output of the stage: `kept` are the points that are live at once, inside the loops
// `around`. Throws CompileError for a scope or a swizzle that the extents do not allow.
Storage make_storage(const schedule::ScheduledStage& stage, const ir::BufferRef& tensor,
                     const std::vector<RequiredRange>& kept, const Sliding& sliding,
                     const std::vector<schedule::Loop>& around);

}  // namespace ferry::lower
