// Checks results that are computed inside another stage's loops: each element must be written exactly once.
#pragma once

#include "host/schedule/stages/scheduled_stage.h"

#include <string>
#include <vector>

namespace ferry::schedule {

// Returns the reason why the iterations of that loop of `at` do not compute each element of `stage` exactly once; empty
// if they do. They do if `at` reads the stage at one point whose indices are axes that cover all of it, and the loops
// from the outermost to that one iterate over no other axes. `values` and `loops` are the current ones of `at`.
std::string why_not_once(const ScheduledStage& stage, const ScheduledStage& at, const std::vector<Expr>& values,
                         const StageLoops& loops, std::size_t loop);

}  // namespace ferry::schedule
