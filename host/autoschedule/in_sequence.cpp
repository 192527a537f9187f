#include "host/autoschedule/in_sequence.h"

#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/gpu_threads.h"
#include "host/autoschedule/vector_axis.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace ferry::autoschedule {

using namespace ir;
using schedule::Dependence;
using schedule::Loop;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;

namespace {

// Number of neighbouring elements that one thread computes for all steps of the sequence.
constexpr std::int64_t kChunk = 256;

// The axis along which neighbouring elements are stored, if they can be computed at the same time.
std::optional<std::size_t> contiguous_axis(const ScheduledStage& stage) {
  if (stage.reduction() != nullptr || stage.axes.empty()) return std::nullopt;
  std::size_t axis = stage.axes.size() - 1;
  if (stage.is_scatter()) {
    const auto is_last = [&](const Axis& one) { return one.var.same_as(stage.place.back()); };
    const auto found = std::find_if(stage.axes.begin(), stage.axes.end(), is_last);
    if (found == stage.axes.end()) return std::nullopt;
    axis = static_cast<std::size_t>(found - stage.axes.begin());
  }
  const Loop& loop = stage.loops.loop(stage.loops.spatial(axis));
  if (loop.dependence == Dependence::sequence || is_constant(loop.extent, 1)) return std::nullopt;
  return axis;
}

std::vector<std::string> loops_with(const ScheduledStage& stage, Dependence dependence) {
  std::vector<std::string> names;
  for (const std::size_t id : stage.loops.order())
    if (stage.loops.loop(id).dependence == dependence) names.push_back(stage.loops.loop(id).name);
  return names;
}

// Orders the loops: independent ones, the sequence, and what is computed in each of its steps.
void put_sequence_inside(const Schedule& schedule, StageHandle handle, const std::vector<std::string>& innermost) {
  const ScheduledStage& stage = stage_of(schedule, handle);
  std::vector<std::string> order;
  for (const Dependence dependence : {Dependence::none, Dependence::sequence, Dependence::step})
    for (std::string& name : loops_with(stage, dependence))
      if (std::find(innermost.begin(), innermost.end(), name) == innermost.end()) order.push_back(std::move(name));
  order.insert(order.end(), innermost.begin(), innermost.end());
  if (order != names_in_order(stage.loops)) handle.reorder(order);
}

}  // namespace

std::optional<Match> match_in_sequence(const StageContext& context) {
  const ScheduledStage& stage = context.stage;
  if (stage.sequence == nullptr) return std::nullopt;
  const auto axis = contiguous_axis(stage);
  const std::int64_t lanes = axis ? lanes_for(stage, stage.axes[*axis].extent, context.target) : 1;
  Match match;
  if (lanes == 1) {
    match.apply = [name = stage.name](Schedule& schedule, const Point&) {
      put_sequence_inside(schedule, schedule[name], {});
      return Scheduled{.outermost = name};
    };
    return match;
  }
  const std::int64_t extent = constant_extent(stage.axes[*axis].extent);
  const std::int64_t chunk = extent == 0 ? kChunk : std::min(kChunk, (extent + lanes - 1) / lanes * lanes);
  match.space.knobs = {number_knob("chunk", KnobKind::tile, {lanes, 4 * lanes, kChunk, 4 * kChunk}, chunk),
                       number_knob("lanes", KnobKind::tile, lane_candidates(lanes), lanes)};
  match.apply = [name = stage.name, axis = stage.loops.loop(stage.loops.spatial(*axis)).name](Schedule& schedule,
                                                                                              const Point& point) {
    StageHandle handle = schedule[name];
    const std::string inside = handle.split(axis, point.number("chunk")).second;
    const auto [vectors, lane] = handle.split(inside, point.number("lanes"));
    put_sequence_inside(schedule, handle, {vectors, lane});
    handle.vectorize(lane);
    return Scheduled{.outermost = name};
  };
  return match;
}

std::optional<Match> match_gpu_sequences(const StageContext& context) {
  const ScheduledStage& stage = context.stage;
  if (stage.sequence == nullptr) return std::nullopt;
  Match match;
  match.space.knobs = {threads_knob(context.target)};
  match.apply = [name = stage.name](Schedule& schedule, const Point& point) {
    StageHandle handle = schedule[name];
    put_sequence_inside(schedule, handle, {});
    const std::vector<std::string> independent = loops_with(stage_of(schedule, handle), Dependence::none);
    if (!independent.empty()) bind_rows(handle, "", fuse_all(handle, independent), point.number("threads"), 0);
    return Scheduled{};
  };
  return match;
}

}  // namespace ferry::autoschedule
