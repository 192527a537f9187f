#include "host/schedule/primitives/attached_stages.h"

#include <algorithm>

namespace ferry::schedule {

const ScheduledStage* attached_to(const Stages& stages, const ScheduledStage& stage) {
  for (const ScheduledStage& other : stages) {
    if (other.compute_kind != ComputeKind::attached) continue;
    if (other.compute_at.stage == stage.name) return &other;
    if (other.store_at && other.store_at->stage == stage.name) return &other;
  }
  return nullptr;
}

void expect_no_attached_stages(const Stages& stages, const ScheduledStage& stage, std::size_t loop,
                               const DirectiveArgs& args) {
  for (const ScheduledStage::Prefetch& prefetch : stage.prefetches)
    if (prefetch.loop == loop)
      args.fail("a loop without a prefetch", "'" + stage.loops.loop(loop).name + "', where '" + prefetch.tensor->name +
                                                 "' is prefetched; split and fuse come first");
  auto is_here = [&](const Attachment& place) { return place.stage == stage.name && place.loop == loop; };
  for (const ScheduledStage& other : stages) {
    if (other.compute_kind != ComputeKind::attached) continue;
    if (is_here(other.compute_at) || (other.store_at && is_here(*other.store_at)))
      args.fail("a loop that nothing is computed at",
                "'" + stage.loops.loop(loop).name + "', where '" + other.name + "' is; split and fuse come first");
  }
}

void expect_lasting_prefetches(const Stages& stages, const DirectiveArgs& args) {
  for (const ScheduledStage& stage : stages) {
    const std::vector<std::size_t>& order = stage.loops.order();
    for (const ScheduledStage::Prefetch& prefetch : stage.prefetches) {
      const ScheduledStage* producer = producer_of(stages, prefetch.tensor.get());
      if (producer == nullptr || producer->compute_kind != ComputeKind::attached) continue;
      const Attachment& place = producer->store_at ? *producer->store_at : producer->compute_at;
      if (place.stage != stage.name ||
          std::find(order.begin(), order.end(), place.loop) <= std::find(order.begin(), order.end(), prefetch.loop))
        continue;
      args.fail("a tensor that lasts longer than an iteration of '" + stage.loops.loop(prefetch.loop).name +
                    "' to be prefetched in it",
                "'" + producer->name + "', kept for one of '" + stage.loops.loop(place.loop).name + "' at a time");
    }
  }
}

}  // namespace ferry::schedule
