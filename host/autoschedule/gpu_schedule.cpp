#include "host/autoschedule/gpu_schedule.h"

#include "host/autoschedule/contraction.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/epilogue.h"
#include "host/autoschedule/gpu_contraction.h"
#include "host/schedule/stages/access.h"

#include <algorithm>

namespace ferry::schedule {

using namespace ir;

namespace {

constexpr std::int64_t kThreads = 256;
// Number of independent loads of a thread.
constexpr std::int64_t kElementsOfThread = 4;
// Number of rows of a reduction that reuse loads of the other operand.
constexpr std::int64_t kRowsOfThread = 4;
// Least number of reduced elements worth a whole block of threads.
constexpr std::int64_t kLeastRow = 128;

std::int64_t threads_of(const Target& target) {
  return target.block_threads == 0 ? kThreads : std::min(kThreads, target.block_threads);
}

std::vector<std::string> loops_over_results(const ScheduledStage& stage) {
  std::vector<std::string> names;
  for (const std::size_t id : stage.loops.order())
    if (!stage.loops.loop(id).reduces) names.push_back(stage.loops.loop(id).name);
  return names;
}

// Whether every element is read at the index at which it is written, or is the same for all: then all axes can be fused
// into one index.
bool is_flat(const ScheduledStage& stage) {
  const auto in_place = [&](const Load& load) {
    if (load.indices.size() != stage.axes.size() || !load.buffer->strides.empty()) return false;
    for (std::size_t a = 0; a < stage.axes.size(); ++a)
      if (!load.indices[a].same_as(stage.axes[a].var)) return false;
    return true;
  };
  for (const Expr& value : stage.values)
    for (const Load* load : loads_of(value))
      if (!load->indices.empty() && !in_place(*load)) return false;
  return true;
}

// Binds blocks over `outer` and threads over adjacent elements along `inner`; a thread computes several of them, a
// block's width apart. Returns the threads' loop.
std::string bind_rows(StageHandle handle, const std::string& outer, const std::string& inner, const Target& target,
                      bool is_innermost) {
  const std::int64_t threads = threads_of(target);
  const auto [blocks, chunk] = handle.split(inner, threads * (is_innermost ? kElementsOfThread : 1));
  std::string thread = chunk;
  if (is_innermost) {
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

void schedule_elements(StageHandle handle, const ScheduledStage& stage, const Target& target) {
  const std::vector<std::string> names = loops_over_results(stage);
  if (names.empty()) return;
  const std::int64_t row = constant_extent(stage.axes.back().extent);
  const bool is_short = row != 0 && row < kThreads;
  if (names.size() == 1 || is_flat(stage) || is_short)
    bind_rows(handle, "", fuse_all(handle, names), target, true);
  else
    bind_rows(handle, fuse_all(handle, {names.begin(), names.end() - 1}), names.back(), target, true);
}

// Returns the axis along which a load is invariant while it is contiguous along the innermost axis: one thread computes
// several results along it.
std::optional<std::size_t> shared_axis(const ScheduledStage& stage) {
  const Reduce& reduce = *stage.reduction();
  for (std::size_t a = stage.axes.size() - 1; a-- > 0;) {
    const std::int64_t extent = constant_extent(stage.axes[a].extent);
    if (extent == 1 || (extent != 0 && extent < kRowsOfThread)) continue;
    for (const Expr& source : reduce.sources)
      for (const Load* load : loads_of(source))
        if (step_of(*load, stage.axes.back().var) == Step::contiguous &&
            step_of(*load, stage.axes[a].var) == Step::none)
          return a;
  }
  return std::nullopt;
}

// Whether memory is contiguous along the reduction's innermost axis but not along that of the results: then the threads
// of a block read the elements of one result together.
bool reduces_rows(const ScheduledStage& stage) {
  const Reduce& reduce = *stage.reduction();
  if (reduce.sources.size() != 1 || reduce.reducer->op == ReduceOp::user || reduce.condition.defined() ||
      !reduce.init.empty())
    return false;
  std::int64_t elements = 1;
  for (const Axis& axis : reduce.axes) {
    const std::int64_t extent = constant_extent(axis.extent);
    elements = extent == 0 || elements == 0 ? 0 : elements * extent;
  }
  if (elements != 0 && elements < kLeastRow) return false;
  bool along_row = false, along_results = false;
  for (const Load* load : loads_of(reduce.sources[0])) {
    along_row = along_row || step_of(*load, reduce.axes.back().var) == Step::contiguous;
    along_results = along_results || (!stage.axes.empty() && step_of(*load, stage.axes.back().var) == Step::contiguous);
  }
  return along_row && !along_results;
}

// Uses one block for each result: every thread reduces its share, and the block combines the partial results.
void schedule_rows(StageHandle handle, const ScheduledStage& stage, const Target& target) {
  const std::vector<std::string> results = loops_over_results(stage);
  std::vector<std::string> depth;
  for (const std::size_t id : stage.loops.order())
    if (stage.loops.loop(id).reduces) depth.push_back(stage.loops.loop(id).name);
  const std::string thread = handle.split(fuse_all(handle, depth), threads_of(target)).second;
  StageHandle partial = handle.rfactor(thread);
  if (!results.empty()) handle.bind(fuse_all(handle, results), "blockIdx.x");
  handle.bind(thread, "threadIdx.x");
  partial.compute_at(handle.name(), thread);
}

// Uses one thread for each result, or for a few that share loads.
void schedule_reduction(StageHandle handle, const ScheduledStage& stage, const Target& target) {
  std::vector<std::string> names = loops_over_results(stage);
  if (names.empty()) return;
  std::vector<std::string> inside;
  for (const std::size_t id : stage.loops.order())
    if (stage.loops.loop(id).reduces) inside.push_back(stage.loops.loop(id).name);
  if (const auto rows = stage.axes.size() > 1 ? shared_axis(stage) : std::nullopt) {
    const std::string name = stage.loops.loop(stage.loops.spatial(*rows)).name;
    const auto [block, row] = handle.split(name, kRowsOfThread);
    *std::find(names.begin(), names.end(), name) = block;
    inside.push_back(row);
    std::vector<std::string> order = names;
    order.insert(order.end(), inside.begin(), inside.end());
    handle.reorder(order);
    handle.unroll(row);
  }
  bind_rows(handle, "", fuse_all(handle, names), target, false);
}

// Uses one thread for each result of the epilogue, which is applied in registers.
void finish_in_registers(Schedule& schedule, StageHandle reduction, const std::string& last, const Target& target) {
  StageHandle handle = schedule[last];
  const std::vector<std::string> names = loops_over_results(stage_of(schedule, handle));
  if (names.empty()) return;
  const std::string thread = bind_rows(handle, "", fuse_all(handle, names), target, false);
  reduction.compute_at(last, thread);
}

}  // namespace

Schedule decide_for_gpu(Schedule schedule, const Target& target) {
  std::vector<std::string> stages;
  for (const ScheduledStage& stage : schedule.stages())
    if (stage.place != Place::inlined && stage.external == nullptr) stages.push_back(stage.name);
  std::vector<std::string> finished;
  const auto is_finished = [&](const std::string& name) {
    return std::find(finished.begin(), finished.end(), name) != finished.end();
  };
  for (const std::string& name : stages) {
    if (is_finished(name)) continue;
    StageHandle handle = schedule[name];
    const ScheduledStage& stage = stage_of(schedule, handle);
    std::string last = stage.reduction() == nullptr ? "" : epilogue_stage(schedule.stages(), stage);
    if (is_finished(last)) last.clear();
    if (const auto tiles = find_gpu_tiles(stage, target)) {
      schedule_gpu_contraction(schedule, handle, *tiles, last);
    } else if (stage.reduction() == nullptr) {
      schedule_elements(handle, stage, target);
    } else if (reduces_rows(stage)) {
      schedule_rows(handle, stage, target);
      last.clear();
    } else if (last.empty()) {
      schedule_reduction(handle, stage, target);
    } else {
      finish_in_registers(schedule, handle, last, target);
    }
    finished.push_back(last);
  }
  return schedule;
}

}  // namespace ferry::schedule
