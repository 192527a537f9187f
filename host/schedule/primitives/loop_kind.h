// Checks of loops that several primitives share.
#pragma once

#include "host/schedule/stages/directive_args.h"

namespace ferry::schedule {

// Whether lowering will find a constant extent: either the loop has one, or the stage is computed inside another's
// loops, in which case only lowering knows the extent.
bool may_be_constant(const ScheduledStage& stage, std::size_t loop);
// Rejects a loop that is not serial any more.
void expect_serial(const ScheduledStage& stage, std::size_t loop, const DirectiveArgs& args);
// Rejects a loop of the reduction.
void expect_result_axis(const ScheduledStage& stage, std::size_t loop, const DirectiveArgs& args);

// Rejects a loop along which a recurrence or a scatter is computed in sequence.
void expect_any_order(const ScheduledStage& stage, std::size_t loop, const DirectiveArgs& args);
// Rejects loops, after a change, that do not compute a recurrence or a scatter in sequence.
void expect_sequence(const ScheduledStage& stage, const DirectiveArgs& args);

// Fails if the loop certainly has more iterations than that: each becomes separate code.
void expect_at_most(std::int64_t iterations, const ScheduledStage& stage, std::size_t loop, const DirectiveArgs& args);

}  // namespace ferry::schedule
