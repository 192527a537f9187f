// Distributes the outer loops of a stage over threads.
#pragma once

#include "host/autoschedule/rule.h"

namespace ferry::autoschedule {

// To be called once the stage's other loops have been scheduled.
//
// Knobs: `loops`, the number of outermost loops with more than one iteration that are fused and made parallel; 0 for
// none. Loops of a reduction, loops in which another stage is computed, and loops that are not serial are not fused.
std::optional<Match> match_parallel(const StageContext& context);

}  // namespace ferry::autoschedule
