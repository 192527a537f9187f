#include "host/lower/threads_outside.h"

#include <algorithm>
#include <vector>

namespace ferry::lower {

using schedule::Attachment;
using schedule::Loop;
using schedule::ScheduledStage;

namespace {

using Order = std::vector<std::size_t>;

bool is_thread_of_results(const Loop& loop) {
  return !loop.reduces && (ir::is_block(loop.kind) || ir::is_thread(loop.kind) || loop.kind == ir::ForKind::vthread);
}

Order taken_out(const schedule::StageLoops& loops) {
  Order order = loops.order();
  const auto first = std::find_if(order.begin(), order.end(), [&](std::size_t id) { return loops.loop(id).reduces; });
  std::stable_partition(first, order.end(), [&](std::size_t id) { return is_thread_of_results(loops.loop(id)); });
  return order;
}

// Returns the innermost loop of the new order among those that were at or around `loop`.
std::size_t moved(std::size_t loop, const Order& before, const Order& after) {
  const auto end = std::find(before.begin(), before.end(), loop) + 1;
  const auto last = std::find_if(after.rbegin(), after.rend(),
                                 [&](std::size_t id) { return std::find(before.begin(), end, id) != end; });
  return *last;
}

}  // namespace

std::optional<schedule::Stages> threads_outside_reductions(const schedule::Stages& as_scheduled) {
  const auto stays = [](const ScheduledStage& stage) { return taken_out(stage.loops) == stage.loops.order(); };
  if (std::ranges::all_of(as_scheduled, stays)) return std::nullopt;
  schedule::Stages stages = as_scheduled;
  for (ScheduledStage& stage : stages) {
    const Order before = stage.loops.order(), after = taken_out(stage.loops);
    if (before == after) continue;
    stage.loops.reorder(after);
    for (ScheduledStage& other : stages) {
      const auto move = [&](Attachment& place) {
        if (place.stage == stage.name) place.loop = moved(place.loop, before, after);
      };
      if (other.compute_kind != schedule::ComputeKind::attached) continue;
      move(other.compute_at);
      if (other.store_at) move(*other.store_at);
    }
  }
  return stages;
}

}  // namespace ferry::lower
