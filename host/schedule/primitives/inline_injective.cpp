// Applies compute_inline to every stage that permits it: no reduction, no result, and no stage computed in its loops.
#include "host/schedule/primitives/attached_stages.h"
#include "host/schedule/primitives/primitives.h"

namespace ferry::schedule {

void inline_injective(Stages& stages, ScheduledStage*, DirectiveArgs& args) {
  args.end();
  for (ScheduledStage& stage : stages) {
    if (stage.is_final() || stage.reduction() != nullptr || stage.sequence != nullptr ||
        attached_to(stages, stage) != nullptr)
      continue;
    stage.compute_kind = ComputeKind::inlined;
    stage.store_at.reset();
  }
}

}  // namespace ferry::schedule
