#include "host/autoschedule/injective.h"

#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/math_lanes.h"
#include "host/autoschedule/vector_axis.h"

#include <algorithm>

namespace ferry::autoschedule {

using namespace ir;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;

namespace {

void schedule_injective(StageHandle handle, const ScheduledStage& stage, std::size_t axis, std::int64_t lanes,
                        std::int64_t vectors) {
  const std::string name = stage.loops.loop(stage.loops.spatial(axis)).name;
  std::string inner = handle.split(name, vectors * lanes).second;
  std::vector<std::string> order = names_in_order(stage.loops);
  if (order.back() != inner) {
    order.erase(std::find(order.begin(), order.end(), inner));
    order.push_back(inner);
    handle.reorder(order);
  }
  if (vectors > 1) {
    const auto [unrolled, lane] = handle.split(inner, lanes);
    handle.unroll(unrolled);
    inner = lane;
  }
  handle.vectorize(inner);
}

}  // namespace

std::optional<Match> match_injective(const StageContext& context) {
  const ScheduledStage& stage = context.stage;
  if (stage.reduction() != nullptr) return std::nullopt;
  const auto vector = choose_vector_axis(stage, context.target, context.outer);
  if (!vector) return std::nullopt;
  const std::int64_t default_lanes = math_lanes_for(stage, stage.axes[vector->axis].extent, context.target);
  if (default_lanes == 1) return std::nullopt;
  std::vector<std::size_t> axes;
  std::vector<std::string> names;
  std::size_t default_axis = 0;
  for (std::size_t a = context.outer; a < stage.axes.size(); ++a) {
    if (is_constant(stage.axes[a].extent, 1)) continue;
    if (a == vector->axis) default_axis = axes.size();
    axes.push_back(a);
    names.push_back(stage.loops.loop(stage.loops.spatial(a)).name);
  }
  const std::int64_t native = native_lanes(stage, context.target);
  std::vector<std::int64_t> lanes = lane_candidates(native);
  if (has_long_chains(stage, context.target)) lanes.push_back(4 * native);
  Match match;
  match.space.knobs = {order_knob("vector", std::move(names), default_axis),
                       number_knob("lanes", KnobKind::tile, std::move(lanes), default_lanes),
                       number_knob("vectors", KnobKind::unroll, {1, 2, 4}, 1)};
  match.apply = [name = stage.name, axes](Schedule& schedule, const Point& point) {
    StageHandle handle = schedule[name];
    schedule_injective(handle, stage_of(schedule, handle), axes[static_cast<std::size_t>(point.number("vector"))],
                       point.number("lanes"), point.number("vectors"));
    return Scheduled{.outermost = name};
  };
  return match;
}

}  // namespace ferry::autoschedule
