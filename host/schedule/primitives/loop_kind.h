// What parallel, vectorize and unroll share.
#pragma once

#include "host/schedule/stages/words.h"

namespace ferry::schedule {

// Whether lowering will find a constant extent: it has one, or the stage is computed inside another's loops, where only
// lowering knows.
bool may_be_constant(const ScheduledStage& stage, std::size_t loop);
// Refuses a loop that is to run in another way already.
void expect_serial(const ScheduledStage& stage, std::size_t loop, const Words& words);
// Refuses a loop of the reduction.
void expect_result_axis(const ScheduledStage& stage, std::size_t loop, const Words& words);

// Fails when the loop certainly has more iterations than that: every one would be code of its own.
void expect_at_most(std::int64_t iterations, const ScheduledStage& stage, std::size_t loop, const Words& words);

}  // namespace ferry::schedule
