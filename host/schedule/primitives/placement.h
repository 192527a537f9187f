// What the primitives that place a stage share.
#pragma once

#include "host/schedule/stages/words.h"

namespace ferry::schedule {

// Refuses a stage whose tensor the caller wants.
void expect_intermediate(const ScheduledStage& stage, const Words& words);
// Refuses what is wanted as a whole before anything else runs.
void expect_attachable(const ScheduledStage& stage, const Words& words);
// Reads "STAGE AXIS" and refuses a loop that does not hold every reader of `stage`. Readers that a later directive may
// still place there, caches of a cache, say, are left to lowering.
Attachment read_attachment(const Stages& stages, const ScheduledStage& stage, Words& words);

}  // namespace ferry::schedule
