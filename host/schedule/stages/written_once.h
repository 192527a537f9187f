// Results that are computed inside another stage's loops, where no element may be written twice or left out.
#pragma once

#include "host/schedule/stages/scheduled_stage.h"

#include <string>
#include <vector>

namespace ferry::schedule {

// What keeps `stage` from having each of its elements computed exactly once in the iterations of that loop of `at`, in
// words; empty when nothing does: `at` reads it at one point, whose indices are axes that run over all of it, and the
// loops down to that one run over no other axes. `values` and `loops` are those of `at`, or what became of them.
std::string why_not_once(const ScheduledStage& stage, const ScheduledStage& at, const std::vector<Expr>& values,
                         const StageLoops& loops, std::size_t loop);

}  // namespace ferry::schedule
