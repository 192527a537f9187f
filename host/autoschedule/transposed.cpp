#include "host/autoschedule/transposed.h"

#include <algorithm>

#include "crosscompile/analysis/access_stride.h"
#include "crosscompile/analysis/loads.h"
#include "host/autoschedule/default_loops.h"

namespace ferry::autoschedule {

using namespace ir;
using analysis::access_stride;
using analysis::AccessStride;
using analysis::loads_of;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;
using schedule::StageLoops;

namespace {

// For a stage that reads along another axis than it writes (a transposition), returns the axis it reads along. Returns
// nothing if tiles of vectors along both axes would mostly be tails.
std::optional<std::size_t> transposed_axis(const ScheduledStage& stage, std::int64_t lanes, std::size_t outer) {
  constexpr std::int64_t kMinLanes = 4;
  const std::vector<const Load*> loads = loads_of(stage.values[0]);
  const auto is_short = [&](const Axis& axis) {
    const std::int64_t* extent = as_int(axis.extent);
    return extent != nullptr && *extent < 2 * lanes;
  };
  if (stage.values.size() != 1 || loads.size() != 1 || lanes < kMinLanes || stage.axes.size() < outer + 2 ||
      is_short(stage.axes.back()) || access_stride(*loads[0], stage.axes.back().var) != AccessStride::strided)
    return std::nullopt;
  for (std::size_t a = outer; a + 1 < stage.axes.size(); ++a)
    if (access_stride(*loads[0], stage.axes[a].var) == AccessStride::contiguous && !is_short(stage.axes[a])) return a;
  return std::nullopt;
}

void schedule_transposed(StageHandle handle, const ScheduledStage& stage, std::size_t axis, std::int64_t tile_rows,
                         std::int64_t lanes) {
  const StageLoops loops = stage.loops;
  std::vector<std::string> order;
  for (std::size_t a = 0; a + 1 < stage.axes.size(); ++a)
    if (a != axis) order.push_back(loops.loop(loops.spatial(a)).name);
  const auto [blocks, lane] = handle.split(loops.loop(loops.spatial(axis)).name, lanes);
  const auto [rows, row] = handle.split(loops.loop(loops.spatial(stage.axes.size() - 1)).name, tile_rows);
  order.insert(order.end(), {blocks, rows, row, lane});
  handle.reorder(order).unroll(row).vectorize(lane);
}

}  // namespace

std::int64_t transposed_tile(std::int64_t lanes) { return std::min<std::int64_t>(lanes, 16); }

std::optional<Match> match_transposed(const StageContext& context) {
  const ScheduledStage& stage = context.stage;
  const std::int64_t native = transposed_tile(native_lanes(stage, context.target));
  if (stage.reduction() != nullptr) return std::nullopt;
  const auto axis = transposed_axis(stage, native, context.outer);
  if (!axis) return std::nullopt;
  std::vector<KnobValue> tiles;
  for (const std::int64_t rows : {native / 2, native, native * 2})
    for (const std::int64_t lanes : {native / 2, native, native * 2}) tiles.push_back({rows, lanes});
  Match match;
  match.space.knobs = {tile_knob("tile", {"rows", "lanes"}, std::move(tiles), {native, native})};
  match.apply = [name = stage.name, axis = *axis](Schedule& schedule, const Point& point) {
    StageHandle handle = schedule[name];
    const KnobValue& tile = point["tile"];
    schedule_transposed(handle, stage_of(schedule, handle), axis, tile[0], tile[1]);
    return Scheduled{.outermost = name};
  };
  return match;
}

}  // namespace ferry::autoschedule
