#include "host/autoschedule/gpu_threads.h"

#include <algorithm>

namespace ferry::autoschedule {

using schedule::ScheduledStage;
using schedule::StageHandle;

namespace {

// Every device has blocks of this size.
constexpr std::int64_t kThreads = 256;
constexpr std::int64_t kLeastThreads = 32;

std::vector<std::string> loops_where(const ScheduledStage& stage, bool reduces) {
  std::vector<std::string> names;
  for (const std::size_t id : stage.loops.order())
    if (stage.loops.loop(id).reduces == reduces) names.push_back(stage.loops.loop(id).name);
  return names;
}

}  // namespace

std::int64_t default_threads(const Target& target) {
  return target.block_threads == 0 ? kThreads : std::min(kThreads, target.block_threads);
}

SpaceKnob threads_knob(const Target& target) {
  std::vector<std::int64_t> candidates;
  for (std::int64_t threads = kLeastThreads; threads <= std::max(target.block_threads, default_threads(target));
       threads *= 2)
    candidates.push_back(threads);
  return number_knob("threads", KnobKind::tile, std::move(candidates), default_threads(target));
}

std::vector<std::string> loops_over_results(const ScheduledStage& stage) { return loops_where(stage, false); }

std::vector<std::string> loops_of_reduction(const ScheduledStage& stage) { return loops_where(stage, true); }

std::string bind_rows(StageHandle handle, const std::string& outer, const std::string& inner, std::int64_t threads,
                      std::int64_t elements) {
  const auto [blocks, chunk] = handle.split(inner, threads * std::max<std::int64_t>(elements, 1));
  std::string thread = chunk;
  if (elements > 0) {
    const auto [part, one] = handle.split(chunk, threads);
    handle.unroll(part);
    thread = one;
  }
  handle.bind(thread, "threadIdx.x");
  if (outer.empty()) {
    handle.bind(blocks, "blockIdx.x");
  } else {
    handle.bind(outer, "blockIdx.x").bind(blocks, "blockIdx.y");
  }
  return thread;
}

}  // namespace ferry::autoschedule
