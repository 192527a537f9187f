#include "host/schedule/idle_threads.h"

#include <algorithm>
#include <cstdint>

#include "host/schedule/stages/scheduled_stage.h"

namespace ferry::schedule {
namespace {

// The number of threads over which the stage's loops are divided.
std::int64_t threads_of(const ScheduledStage& stage) {
  std::int64_t threads = 1;
  for (const std::size_t id : stage.loops.order()) {
    const Loop& loop = stage.loops.loop(id);
    const auto* extent = loop.extent.as<ir::IntImm>();
    if (ir::is_thread(loop.kind) && extent != nullptr) threads *= extent->value;
  }
  return threads;
}

}  // namespace

std::vector<std::string> notes_on_idle_threads(const Schedule& schedule) {
  std::int64_t most = 1;
  for (const ScheduledStage& stage : schedule.stages()) most = std::max(most, threads_of(stage));
  std::vector<std::string> notes;
  for (const ScheduledStage& stage : schedule.stages()) {
    const bool is_copy = stage.scope == ir::Scope::shared && stage.compute_kind == ComputeKind::attached;
    if (!is_copy || most == 1 || threads_of(stage) > 1) continue;
    notes.push_back("one thread of " + std::to_string(most) + " computes '" + stage.name +
                    "' while the others wait, because none of its loops is bound to threads");
  }
  return notes;
}

}  // namespace ferry::schedule
