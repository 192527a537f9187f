#include "host/autoschedule/gpu_elements.h"

#include "crosscompile/analysis/loads.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/gpu_threads.h"

namespace ferry::autoschedule {

using namespace ir;
using analysis::loads_of;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;

namespace {

// Number of independent loads of a thread.
constexpr std::int64_t kElementsOfThread = 4;
// Shorter rows are fused with one another.
constexpr std::int64_t kShortRow = 256;

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

}  // namespace

std::optional<Match> match_gpu_elements(const StageContext& context) {
  const ScheduledStage& stage = context.stage;
  const std::vector<std::string> names = loops_over_results(stage);
  if (stage.reduction() != nullptr || names.empty()) return std::nullopt;
  const std::int64_t row = constant_extent(stage.axes.back().extent);
  const bool is_short = row != 0 && row < kShortRow;
  const bool is_fused = names.size() == 1 || is_flat(stage) || is_short;
  Match match;
  match.space.knobs = {threads_knob(context.target),
                       number_knob("elements", KnobKind::unroll, {1, 2, 4, 8}, kElementsOfThread)};
  match.apply = [name = stage.name, names, is_fused](Schedule& schedule, const Point& point) {
    StageHandle handle = schedule[name];
    const std::string outer = is_fused ? "" : fuse_all(handle, {names.begin(), names.end() - 1});
    bind_rows(handle, outer, is_fused ? fuse_all(handle, names) : names.back(), point.number("threads"),
              point.number("elements"));
    return Scheduled{};
  };
  return match;
}

}  // namespace ferry::autoschedule
