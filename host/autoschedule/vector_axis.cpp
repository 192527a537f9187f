#include "host/autoschedule/vector_axis.h"

#include "crosscompile/analysis/access_stride.h"
#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/substitute.h"
#include "host/autoschedule/default_loops.h"

#include <algorithm>

namespace ferry::autoschedule {

using namespace ir;
using analysis::access_stride;
using analysis::AccessStride;
using analysis::loads_of;
using schedule::ScheduledStage;

namespace {

std::int64_t ceil_to(std::int64_t value, std::int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

double cost_of(AccessStride stride) {
  switch (stride) {
    case AccessStride::none: return 0;
    case AccessStride::contiguous: return 1;
    case AccessStride::small: return 2;
    case AccessStride::strided: return 4;
  }
  return 4;
}

// Returns how the load moves in memory along the variable, also where it moves by rows of one or two elements.
AccessStride memory_stride(const Load& load, const Expr& var) {
  const AccessStride stride = access_stride(load, var);
  if (stride != AccessStride::strided || !load.buffer->strides.empty()) return stride;
  std::int64_t elements = 1;  // behind the dimension that the variable indexes
  std::size_t d = load.indices.size();
  while (d > 0 && !uses_var(load.indices[d - 1], var)) elements *= constant_extent(load.buffer->shape[--d]);
  if (d == 0 || !load.indices[d - 1].same_as(var) || elements < 1 || elements > 2) return stride;
  for (std::size_t other = 0; other + 1 < d; ++other)
    if (uses_var(load.indices[other], var)) return stride;
  return elements == 1 ? AccessStride::contiguous : AccessStride::small;
}

}  // namespace

std::optional<VectorAxis> choose_vector_axis(const ScheduledStage& stage, const Target& target, std::size_t outer) {
  std::vector<const Load*> loads;
  for (const Expr& source : sources_of(stage))
    for (const Load* load : loads_of(source)) loads.push_back(load);
  std::optional<VectorAxis> best;
  double best_cost = 0;
  auto offer = [&](VectorAxis axis, const Axis& loop, double store) {
    if (is_constant(loop.extent, 1)) return;
    double cost = store;
    for (const Load* load : loads) cost += cost_of(memory_stride(*load, loop.var));
    const std::int64_t extent = constant_extent(loop.extent), lanes = native_lanes(stage, target);
    if (extent > 0) cost *= static_cast<double>(ceil_to(extent, lanes)) / static_cast<double>(extent);
    if (best && cost >= best_cost) return;
    best = axis;
    best_cost = cost;
  };
  const Reduce* reduce = stage.reduction();
  // The innermost axis comes first, so it wins ties.
  for (std::size_t i = stage.axes.size(); i-- > outer;) {
    const bool innermost = i + 1 == stage.axes.size();
    offer({false, i}, stage.axes[i], innermost ? 0.1 : reduce ? 1 : 4);
  }
  if (reduce && reduce->reducer->op != ReduceOp::user)
    for (std::size_t i = reduce->axes.size(); i-- > 0;) offer({true, i}, reduce->axes[i], 0.5);
  return best;
}

std::optional<std::size_t> choose_row_axis(const ScheduledStage& stage, const Reduce& reduce, VectorAxis vector,
                                           std::size_t outer) {
  const Expr& var = vector.reduces ? reduce.axes[vector.axis].var : stage.axes[vector.axis].var;
  std::optional<std::size_t> best;
  for (std::size_t i = stage.axes.size(); i-- > outer;) {
    if ((!vector.reduces && i == vector.axis) || is_constant(stage.axes[i].extent, 1)) continue;
    bool reused = false;
    for (const Expr& source : reduce.sources)
      for (const Load* load : loads_of(source))
        reused |= access_stride(*load, var) != AccessStride::none &&
                  access_stride(*load, stage.axes[i].var) == AccessStride::none;
    if (reused && !best) best = i;
  }
  return best;
}

std::int64_t lanes_for(const ScheduledStage& stage, const Expr& extent, const Target& target) {
  const std::int64_t native = native_lanes(stage, target), count = constant_extent(extent);
  if (count == 0) return native;
  std::int64_t lanes = native;
  while (lanes > count) lanes /= 2;
  if (target.capabilities.masks && lanes < std::min(count, native)) lanes *= 2;
  // Without masks a tail runs one element at a time, so half a vector that divides the extent evenly is better.
  if (!target.capabilities.masks && count % lanes != 0 && lanes >= 4 && count % (lanes / 2) == 0) lanes /= 2;
  return lanes;
}

std::vector<std::int64_t> lane_candidates(std::int64_t native_lanes) {
  std::vector<std::int64_t> candidates;
  for (const std::int64_t lanes : {native_lanes / 2, native_lanes, native_lanes * 2})
    if (lanes > 1) candidates.push_back(lanes);
  return candidates;
}

}  // namespace ferry::autoschedule
