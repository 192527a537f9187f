#include "host/autoschedule/gpu_rows.h"

#include "crosscompile/analysis/access_stride.h"
#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/substitute.h"
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

// Least number of reduced elements worth a whole block of threads.
constexpr std::int64_t kLeastRow = 128;

// Whether the parts of a row can be combined by a tree: every value of both tuples occurs in their combination.
bool combines_all(const Reducer& reducer) {
  if (reducer.op != ReduceOp::user) return true;
  const auto is_used = [&](const Expr& operand) {
    return std::ranges::any_of(reducer.combine, [&](const Expr& part) { return uses_var(part, operand); });
  };
  return std::ranges::all_of(reducer.left, is_used) && std::ranges::all_of(reducer.right, is_used);
}

// Whether memory is contiguous along the reduction's innermost axis but not nearly so along that of the results: then
// the threads of a block read the elements of one result together. A convolution with strides reads elements that are
// close to those of the next result.
bool reduces_rows(const ScheduledStage& stage) {
  const Reduce& reduce = *stage.reduction();
  if (!combines_all(*reduce.reducer) || reduce.condition.defined() || !reduce.init.empty()) return false;
  std::int64_t elements = 1;
  for (const Axis& axis : reduce.axes) {
    const std::int64_t extent = constant_extent(axis.extent);
    elements = extent == 0 || elements == 0 ? 0 : elements * extent;
  }
  if (elements != 0 && elements < kLeastRow) return false;
  bool along_row = false, along_results = false;
  for (const Expr& source : reduce.sources) {
    for (const Load* load : loads_of(source)) {
      along_row = along_row || access_stride(*load, reduce.axes.back().var) == AccessStride::contiguous;
      if (stage.axes.empty()) continue;
      const AccessStride stride = access_stride(*load, stage.axes.back().var);
      along_results = along_results || stride == AccessStride::contiguous || stride == AccessStride::small;
    }
  }
  return along_row && !along_results;
}

}  // namespace

std::optional<Match> match_gpu_rows(const StageContext& context) {
  const ScheduledStage& stage = context.stage;
  if (stage.reduction() == nullptr || !reduces_rows(stage)) return std::nullopt;
  Match match;
  match.space.knobs = {threads_knob(context.target)};
  match.apply = [name = stage.name, results = loops_over_results(stage), depth = loops_of_reduction(stage)](
                    Schedule& schedule, const Point& point) {
    StageHandle handle = schedule[name];
    const std::string thread = handle.split(fuse_all(handle, depth), point.number("threads")).second;
    StageHandle partial = handle.rfactor(thread);
    if (!results.empty()) handle.bind(fuse_all(handle, results), "blockIdx.x");
    handle.bind(thread, "threadIdx.x");
    partial.compute_at(handle.name(), thread);
    return Scheduled{};
  };
  return match;
}

}  // namespace ferry::autoschedule
