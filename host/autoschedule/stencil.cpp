#include "host/autoschedule/stencil.h"

#include "crosscompile/analysis/access_stride.h"
#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/substitute.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/epilogue_fusion.h"
#include "host/autoschedule/vector_axis.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

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

// Unrolling more products increases code size more than it saves time.
constexpr std::int64_t kMaxTaps = 25;
constexpr std::int64_t kRows = 4;
// If there are this few rows and at most two masked vectors hold a whole row, all rows form one tile, or two:
// conditions at the borders then fold away. One tile of more than kWholeRows takes 1.2 to 1.5 times as long as two on
// AVX-512. Where the schedule is also for other sizes, the conditions stay, and take up more code than the tile.
constexpr std::int64_t kFewRows = 14, kWholeRows = 8;
constexpr std::uint32_t kManyRegisters = 32;

bool slides(const Expr& index, const Expr& axis, const std::vector<Axis>& stencil) {
  return uses_var(index, axis) &&
         std::any_of(stencil.begin(), stencil.end(), [&](const Axis& tap) { return uses_var(index, tap.var); });
}

// Whether the size of the stage's rows and columns is the same in every call.
bool has_fixed_image(const StageContext& context) {
  if (context.at_any_size == nullptr) return true;
  const ScheduledStage* stage = find_stage(*context.at_any_size, context.stage.name);
  if (stage == nullptr) return false;
  const std::size_t axes = stage->axes.size();
  return constant_extent(stage->axes[axes - 2].extent) > 0 && constant_extent(stage->axes[axes - 1].extent) > 0;
}

// Returns the lanes of a row. Where there are no masks, the elements that follow the last whole vector would be
// computed one by one: a short row of a fixed size is one vector instead, of any length, and another one is made of
// half vectors if these and the elements that they leave are fewer.
std::int64_t row_lanes(const StageContext& context) {
  const Expr& extent = context.stage.axes.back().extent;
  const std::int64_t lanes = lanes_for(context.stage, extent, context.target);
  const std::int64_t columns = constant_extent(extent), native = native_lanes(context.stage, context.target);
  const bool has_tail = columns > 0 && columns % lanes != 0;
  const bool is_short = columns <= 2 * native && native > 1 && has_fixed_image(context);
  if (!has_tail || context.target.capabilities.masks) return lanes;
  if (is_short) return columns;
  constexpr std::int64_t kLeastLanes = 4;
  const auto steps = [&](std::int64_t width) { return columns / width + columns % width; };
  return lanes >= 2 * kLeastLanes && steps(lanes / 2) < steps(lanes) ? lanes / 2 : lanes;
}

// Returns four, or a number close to it that divides the rows of a fixed image evenly. More rows of another image are
// more code with conditions.
std::int64_t tile_rows(std::int64_t rows, std::int64_t columns, std::int64_t lanes, const StageContext& context) {
  const Target& target = context.target;
  const bool many = target.vector_registers >= kManyRegisters;
  if (rows < 1 || !has_fixed_image(context)) return kRows;
  if (!many) {
    // Of few rows, those that the last tile lacks are a part of all that counts.
    const auto padded = [&](std::int64_t tile) { return (rows + tile - 1) / tile * tile; };
    std::int64_t best = kRows;
    for (const std::int64_t tile : {std::int64_t{5}, std::int64_t{6}})
      if (rows <= kFewRows && padded(tile) < padded(best)) best = tile;
    return best;
  }
  const bool is_small = rows <= kFewRows && columns > 0 && columns <= 2 * lanes;
  if (is_small && target.capabilities.masks) return rows <= kWholeRows ? rows : (rows + 1) / 2;
  for (const std::int64_t tile : {kRows, std::int64_t{7}, std::int64_t{5}, std::int64_t{6}})
    if (rows % tile == 0) return tile;
  return kRows;
}

void schedule_stencil(StageHandle handle, const ScheduledStage& stage, std::int64_t rows, std::int64_t lanes,
                      bool unrolls_window) {
  const StageLoops loops = stage.loops;
  const std::size_t axes = stage.axes.size();
  const std::string row_name = loops.loop(loops.spatial(axes - 2)).name;
  const auto [row_blocks, row] = handle.split(row_name, rows);
  const auto [vectors, lane] = handle.split(loops.loop(loops.spatial(axes - 1)).name, lanes);
  std::vector<std::string> order;
  for (std::size_t a = 0; a + 2 < axes; ++a) order.push_back(loops.loop(loops.spatial(a)).name);
  order.insert(order.end(), {row_blocks, vectors});
  std::vector<std::string> unrolled;
  for (std::size_t a = 0; a < stage.reduction()->axes.size(); ++a) {
    order.push_back(loops.loop(loops.reduction(a)).name);
    if (unrolls_window) unrolled.push_back(order.back());
  }
  unrolled.push_back(row);
  order.insert(order.end(), {row, lane});
  handle.reorder(order).vectorize(lane);
  for (const std::string& name : unrolled) handle.unroll(name);
}

}  // namespace

bool is_stencil(const ScheduledStage& stage) {
  const Reduce* reduce = stage.reduction();
  if (reduce == nullptr || reduce->sources.size() != 1 || reduce->reducer->op != ReduceOp::sum ||
      reduce->condition.defined() || !reduce->init.empty() || stage.axes.size() < 2)
    return false;
  std::int64_t taps = 1;
  for (const Axis& axis : reduce->axes) taps *= constant_extent(axis.extent);
  if (taps < 2 || taps > kMaxTaps) return false;
  const Expr &column = stage.axes.back().var, &row = stage.axes[stage.axes.size() - 2].var;
  bool any = false;
  for (const Load* load : loads_of(reduce->sources[0])) {
    const AccessStride stride = access_stride(*load, column);
    if (stride == AccessStride::none) continue;
    if (stride != AccessStride::contiguous || load->indices.size() < 2) return false;
    const bool rows_slide = std::any_of(load->indices.begin(), load->indices.end() - 1,
                                        [&](const Expr& index) { return slides(index, row, reduce->axes); });
    if (!rows_slide || !slides(load->indices.back(), column, reduce->axes)) return false;
    any = true;
  }
  return any;
}

std::optional<Match> match_stencil(const StageContext& context) {
  const ScheduledStage& stage = context.stage;
  if (!is_stencil(stage)) return std::nullopt;
  const Expr &row_extent = stage.axes[stage.axes.size() - 2].extent, &column_extent = stage.axes.back().extent;
  const std::int64_t lanes = row_lanes(context);
  const std::int64_t rows = tile_rows(constant_extent(row_extent), constant_extent(column_extent), lanes, context);
  std::vector<std::int64_t> row_choices = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::int64_t all_rows = constant_extent(row_extent);
  if (all_rows > kWholeRows && all_rows <= kFewRows) row_choices.push_back(all_rows);
  Match match;
  match.space.knobs = {
      number_knob("rows", KnobKind::tile, std::move(row_choices), rows),
      number_knob("lanes", KnobKind::tile, lane_candidates(native_lanes(stage, context.target)), lanes),
      flag_knob("unroll_window", true)};
  match.apply = [name = stage.name, epilogues = context.epilogues](Schedule& schedule, const Point& point) {
    const std::size_t first = schedule.directives().size();
    StageHandle handle = schedule[name];
    schedule_stencil(handle, stage_of(schedule, handle), point.number("rows"), point.number("lanes"),
                     point.flag("unroll_window"));
    return with_epilogues(schedule, name, first, epilogues);
  };
  return match;
}

}  // namespace ferry::autoschedule
