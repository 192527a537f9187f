#include "host/autoschedule/gpu_reduction.h"

#include "crosscompile/analysis/access_stride.h"
#include "crosscompile/analysis/loads.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/gpu_threads.h"

#include <algorithm>

namespace ferry::autoschedule {

using namespace ir;
using analysis::access_stride;
using analysis::AccessStride;
using analysis::loads_of;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;

namespace {

// Number of rows of a reduction that reuse loads of the other operand.
constexpr std::int64_t kRowsOfThread = 4;

// Returns the axis along which a load is invariant while it is contiguous along the innermost axis: one thread computes
// several results along it.
std::optional<std::size_t> shared_axis(const ScheduledStage& stage) {
  const Reduce& reduce = *stage.reduction();
  for (std::size_t a = stage.axes.size() - 1; a-- > 0;) {
    const std::int64_t extent = constant_extent(stage.axes[a].extent);
    if (extent == 1 || (extent != 0 && extent < kRowsOfThread)) continue;
    for (const Expr& source : reduce.sources)
      for (const Load* load : loads_of(source))
        if (access_stride(*load, stage.axes.back().var) == AccessStride::contiguous &&
            access_stride(*load, stage.axes[a].var) == AccessStride::none)
          return a;
  }
  return std::nullopt;
}

// Uses one thread for each result, or for `tile_rows` along the axis `rows`.
void schedule_reduction(StageHandle handle, const ScheduledStage& stage, std::optional<std::size_t> rows,
                        std::int64_t threads, std::int64_t tile_rows) {
  std::vector<std::string> names = loops_over_results(stage), inside = loops_of_reduction(stage);
  if (rows) {
    const std::string name = stage.loops.loop(stage.loops.spatial(*rows)).name;
    const auto [block, row] = handle.split(name, tile_rows);
    *std::find(names.begin(), names.end(), name) = block;
    inside.push_back(row);
    std::vector<std::string> order = names;
    order.insert(order.end(), inside.begin(), inside.end());
    handle.reorder(order);
    handle.unroll(row);
  }
  bind_rows(handle, "", fuse_all(handle, names), threads, 0);
}

}  // namespace

std::optional<Match> match_gpu_reduction(const StageContext& context) {
  const ScheduledStage& stage = context.stage;
  if (stage.reduction() == nullptr || stage.axes.empty()) return std::nullopt;
  Match match;
  match.space.knobs = {threads_knob(context.target)};
  if (!context.epilogues.empty()) {
    match.apply = [name = stage.name, last = context.epilogues.back()](Schedule& schedule, const Point& point) {
      StageHandle handle = schedule[last];
      const std::vector<std::string> names = loops_over_results(stage_of(schedule, handle));
      const std::string thread = bind_rows(handle, "", fuse_all(handle, names), point.number("threads"), 0);
      schedule[name].compute_at(last, thread);
      return Scheduled{.epilogues = {last}};
    };
    return match;
  }
  const std::optional<std::size_t> rows = stage.axes.size() > 1 ? shared_axis(stage) : std::nullopt;
  if (rows) match.space.knobs.push_back(number_knob("rows", KnobKind::unroll, {1, 2, 4, 8}, kRowsOfThread));
  match.apply = [name = stage.name, rows](Schedule& schedule, const Point& point) {
    StageHandle handle = schedule[name];
    schedule_reduction(handle, stage_of(schedule, handle), rows, point.number("threads"),
                       rows ? point.number("rows") : 1);
    return Scheduled{};
  };
  return match;
}

}  // namespace ferry::autoschedule
