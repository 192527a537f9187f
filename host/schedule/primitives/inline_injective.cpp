// compute_inline for every stage that may be: no reduction, no result, and nothing computed in its loops.
#include "host/schedule/primitives/attachments.h"
#include "host/schedule/primitives/primitives.h"

namespace ferry::schedule {

void inline_injective(Stages& stages, ScheduledStage*, Words& words) {
  words.end();
  for (ScheduledStage& stage : stages) {
    if (stage.is_final() || stage.reduction() != nullptr || attached_to(stages, stage) != nullptr) continue;
    stage.place = Place::inlined;
    stage.store_at.reset();
  }
}

}  // namespace ferry::schedule
