// Chooses the lanes of stages that compute functions such as exp.
#pragma once

#include "ferry/target/target.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <cstdint>

namespace ferry::autoschedule {

// Whether the stage's elements are computed by functions that become long chains of arithmetic
// (crosscompile/passes/lower_math/lower_math.h). There are few of them, so that their intermediate results fit the
// registers.
bool has_long_chains(const schedule::ScheduledStage& stage, const Target& target);

// Returns the number of lanes for an axis of this extent: as lanes_for(), or those of two or four registers, whose
// chains run beside one another. The more lanes there are, the more elements are left to a tail; the choice weighs
// both.
std::int64_t math_lanes_for(const schedule::ScheduledStage& stage, const ir::Expr& extent, const Target& target);

}  // namespace ferry::autoschedule
