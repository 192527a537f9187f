// Checks shared by the primitives that place a stage.
#pragma once

#include "host/schedule/stages/directive_args.h"

namespace ferry::schedule {

// Rejects a stage whose tensor is a result.
void expect_intermediate(const ScheduledStage& stage, const DirectiveArgs& args);
// Rejects a scatter and the tensor that it updates.
void expect_own_storage(const ScheduledStage& stage, const DirectiveArgs& args);
// Rejects a stage that is needed as a whole before anything else runs.
void expect_attachable(const ScheduledStage& stage, const DirectiveArgs& args);
// Reads "STAGE AXIS" and rejects a loop that does not enclose every reader of `stage`. Readers that a later directive
// may still move there, such as caches of a cache, are checked by lowering.
Attachment read_attachment(const Stages& stages, const ScheduledStage& stage, DirectiveArgs& args);

}  // namespace ferry::schedule
