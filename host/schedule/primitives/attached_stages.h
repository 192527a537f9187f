// Finds stages that depend on a loop that a primitive is about to replace.
#pragma once

#include "host/schedule/stages/directive_args.h"

namespace ferry::schedule {

// Returns a stage that is computed or stored at a loop of this one, or null.
const ScheduledStage* attached_to(const Stages& stages, const ScheduledStage& stage);
// Rejects a loop at which another stage is computed or stored.
void expect_no_attached_stages(const Stages& stages, const ScheduledStage& stage, std::size_t loop,
                               const DirectiveArgs& args);

// Rejects prefetching a stage in a loop if the stage's storage lasts only for an iteration of a loop further inside.
void expect_lasting_prefetches(const Stages& stages, const DirectiveArgs& args);

}  // namespace ferry::schedule
