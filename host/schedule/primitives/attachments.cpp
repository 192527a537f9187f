#include "host/schedule/primitives/attachments.h"

namespace ferry::schedule {

const ScheduledStage* attached_to(const Stages& stages, const ScheduledStage& stage) {
  for (const ScheduledStage& other : stages) {
    if (other.place != Place::attached) continue;
    if (other.compute_at.stage == stage.name) return &other;
    if (other.store_at && other.store_at->stage == stage.name) return &other;
  }
  return nullptr;
}

void expect_no_guests(const Stages& stages, const ScheduledStage& stage, std::size_t loop, const Words& words) {
  for (const ScheduledStage::Prefetch& prefetch : stage.prefetches)
    if (prefetch.loop == loop)
      words.fail("a loop without a prefetch", "'" + stage.loops.loop(loop).name + "', where '" + prefetch.tensor->name +
                                                  "' is prefetched; split and fuse come first");
  auto is_here = [&](const Attachment& place) { return place.stage == stage.name && place.loop == loop; };
  for (const ScheduledStage& other : stages) {
    if (other.place != Place::attached) continue;
    if (is_here(other.compute_at) || (other.store_at && is_here(*other.store_at)))
      words.fail("a loop that nothing is computed at",
                 "'" + stage.loops.loop(loop).name + "', where '" + other.name + "' is; split and fuse come first");
  }
}

}  // namespace ferry::schedule
