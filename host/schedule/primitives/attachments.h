// Which stages depend on a loop that a primitive is about to replace.
#pragma once

#include "host/schedule/stages/words.h"

namespace ferry::schedule {

// A stage that is computed or kept in a loop of this one, or null.
const ScheduledStage* attached_to(const Stages& stages, const ScheduledStage& stage);
// Refuses a loop in which another stage is computed or kept.
void expect_no_guests(const Stages& stages, const ScheduledStage& stage, std::size_t loop, const Words& words);

// Refuses prefetching a stage, in a loop, whose memory lasts for an iteration of a loop further inside.
void expect_lasting_prefetches(const Stages& stages, const Words& words);

}  // namespace ferry::schedule
