#include "host/autoschedule/reduction.h"

#include "crosscompile/analysis/count_nodes.h"
#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/substitute.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/epilogue_fusion.h"
#include "host/autoschedule/register_tile.h"
#include "host/autoschedule/vector_axis.h"

#include <algorithm>

namespace ferry::autoschedule {

using namespace ir;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;
using schedule::StageLoops;

namespace {

// Number of vectors in flight for a reduction without rows to interleave.
constexpr std::int64_t kReductionVectors = 4;
// Most partial results in flight that are offered as a choice.
constexpr std::int64_t kMaxPartialVectors = 16;
// Small windows, as in pooling, are fully unrolled up to this many vectors in a tile: their loops would cost more than
// the work they repeat.
constexpr std::int64_t kMaxUnrolledPoints = 36;
// A tile is unrolled, so the source of a long expression limits it: more code than this many nodes only takes longer to
// compile.
constexpr std::size_t kMaxTileNodes = 4000;

// The axes that the stage is tiled along.
struct Axes {
  VectorAxis vector;
  std::optional<std::size_t> rows;
  std::int64_t row_extent = 0;  // the number of rows there are to tile; 0: known only at run time
};

std::size_t nodes_of(const Reduce& reduce) {
  std::size_t nodes = 0;
  for (const Expr& source : reduce.sources) nodes += analysis::count_nodes(source);
  for (const Expr& result : reduce.reducer->combine) nodes += analysis::count_nodes(result);
  return nodes;
}

RegisterTile within_code_size(RegisterTile tile, const Reduce& reduce) {
  const auto most = std::max<std::int64_t>(static_cast<std::int64_t>(kMaxTileNodes / nodes_of(reduce)), 1);
  while (tile.rows * tile.vectors > most && tile.rows > 1) tile.rows /= 2;
  while (tile.rows * tile.vectors > most && tile.vectors > 1) tile.vectors /= 2;
  return tile;
}

// Rows that are computed at a time in the loops of another stage can be interleaved, also where they share no loads.
Axes axes_of(const StageContext& context, const Reduce& reduce, VectorAxis vector) {
  const ScheduledStage& stage = context.stage;
  Axes axes = {vector, choose_row_axis(stage, reduce, vector, context.outer)};
  const bool has_block = context.block_rows > 1 && vector.reduces;
  if (!axes.rows && has_block) {
    axes.rows = context.outer - 1;
    axes.row_extent = context.block_rows;
  } else if (axes.rows) {
    axes.row_extent = constant_extent(stage.axes[*axes.rows].extent);
  }
  return axes;
}

RegisterTile tile_for(const ScheduledStage& stage, const Reduce& reduce, const Axes& axes, std::int64_t lanes,
                      const Target& target) {
  const auto& [vector, rows, row_extent] = axes;
  const std::int64_t columns =
      constant_extent(vector.reduces ? reduce.axes[vector.axis].extent : stage.axes[vector.axis].extent);
  RegisterTile tile = choose_register_tile(
      target.vector_registers, {.columns = columns, .lanes = lanes, .has_rows = rows.has_value(), .rows = row_extent});
  if (!vector.reduces) return within_code_size(tile, reduce);
  // The lanes hold partial results: several rows are interleaved if there are any, otherwise several vectors.
  tile.vectors = rows ? 1 : kReductionVectors;
  tile.rows = rows ? std::min<std::int64_t>(tile.rows * 2, 8) : 1;
  if (row_extent > 0) tile.rows = std::min(tile.rows, row_extent);
  while (tile.vectors > 1 && columns > 0 && tile.vectors * lanes > columns) tile.vectors /= 2;
  return within_code_size(tile, reduce);
}

// Splits the axis into vectors; returns the inner loops, which form the tile.
std::vector<std::string> split_columns(StageHandle handle, const std::string& axis, bool reduces, RegisterTile tile,
                                       std::int64_t lanes) {
  if (tile.vectors * lanes == 1) return {};
  const std::string inner = handle.split(axis, tile.vectors * lanes).second;
  if (lanes == 1) {
    handle.unroll(inner);
    return {inner};
  }
  if (reduces) {
    handle.vectorize_reduction(inner);
    return {inner};
  }
  if (tile.vectors == 1) {
    handle.vectorize(inner);
    return {inner};
  }
  const auto [vectors, lane] = handle.split(inner, lanes);
  handle.unroll(vectors).vectorize(lane);
  return {vectors, lane};
}

// Returns the number of points of the reduction, at most kMaxUnrolledPoints + 1; 0 when it is known only at run time.
std::int64_t stencil_points(const Reduce& reduce) {
  std::int64_t points = 1;
  for (const Axis& axis : reduce.axes) points = std::min(points * constant_extent(axis.extent), kMaxUnrolledPoints + 1);
  return points;
}

// Whether the reduction's last axis is short, and whatever is loaded in vectors is the same for all of its points, as
// the bytes that hold several weights each. Unrolled, these points load it once.
bool shares_vectors(const ScheduledStage& stage, const Reduce& reduce, VectorAxis vector) {
  constexpr std::int64_t kMostPoints = 8;
  const Axis& last = reduce.axes.back();
  const std::int64_t points = constant_extent(last.extent);
  if (vector.reduces || reduce.axes.size() < 2 || points < 2 || points > kMostPoints) return false;
  bool has_vectors = false, is_shared = true;
  for (const Expr& source : reduce.sources) {
    analysis::for_each_load(source, [&](const Load& load) {
      const auto uses = [&](const Expr& var) {
        return std::ranges::any_of(load.indices, [&](const Expr& index) { return uses_var(index, var); });
      };
      if (!uses(stage.axes[vector.axis].var)) return;
      has_vectors = true;
      is_shared = is_shared && !uses(last.var);
    });
  }
  return has_vectors && is_shared;
}

// Returns the axes along which vectors may lie: those with several elements, of the results inside the outer loops and
// of the reduction, whose lanes hold partial results.
std::vector<VectorAxis> vector_axes(const StageContext& context, const Reduce& reduce) {
  std::vector<VectorAxis> axes;
  for (std::size_t a = context.outer; a < context.stage.axes.size(); ++a)
    if (!is_constant(context.stage.axes[a].extent, 1)) axes.push_back({false, a});
  if (reduce.reducer->op == ReduceOp::user) return axes;
  for (std::size_t a = 0; a < reduce.axes.size(); ++a)
    if (!is_constant(reduce.axes[a].extent, 1)) axes.push_back({true, a});
  return axes;
}

std::string loop_name(const StageLoops& loops, VectorAxis axis) {
  return loops.loop(axis.reduces ? loops.reduction(axis.axis) : loops.spatial(axis.axis)).name;
}

// Returns the tile for vectors along another axis than the one for which it was chosen.
RegisterTile along(const Axes& axes, RegisterTile tile) {
  if (!axes.rows) tile.rows = 1;
  if (axes.row_extent > 0) tile.rows = std::min(tile.rows, axes.row_extent);
  while (axes.vector.reduces && tile.rows > 1 && tile.rows * tile.vectors > kMaxPartialVectors) tile.rows /= 2;
  return tile;
}

// Returns the values of the knob `tile`.
std::vector<KnobValue> tile_candidates(const Axes& axes, const Target& target) {
  const std::int64_t rows = axes.row_extent;
  std::vector<KnobValue> candidates;
  if (!axes.vector.reduces) {
    for (const RegisterTile& tile :
         register_tiles(target.vector_registers, {.has_rows = axes.rows.has_value(), .rows = rows}))
      candidates.push_back({tile.rows, tile.vectors});
    return candidates;
  }
  for (const std::int64_t vectors : {1, 2, 4, 8})
    for (const std::int64_t tile_rows : {1, 2, 4, 8})
      if (tile_rows * vectors <= kMaxPartialVectors &&
          (tile_rows == 1 || (axes.rows && (rows == 0 || tile_rows <= rows))))
        candidates.push_back({tile_rows, vectors});
  return candidates;
}

void schedule_reduction(StageHandle handle, const ScheduledStage& stage, const Axes& axes, RegisterTile tile,
                        std::int64_t lanes, bool unrolls_window) {
  const Reduce& reduce = *stage.reduction();
  const StageLoops& loops = stage.loops;
  const VectorAxis vector = axes.vector;
  std::vector<std::string> inner;
  if (axes.rows && tile.rows > 1) {
    inner.push_back(handle.split(loops.loop(loops.spatial(*axes.rows)).name, tile.rows).second);
    handle.unroll(inner.back());
  }
  for (std::string& name : split_columns(handle, loop_name(loops, vector), vector.reduces, tile, lanes))
    inner.push_back(std::move(name));
  if (unrolls_window)
    for (std::size_t a = 0; a < reduce.axes.size(); ++a) handle.unroll(loops.loop(loops.reduction(a)).name);
  else if (shares_vectors(stage, reduce, vector))
    handle.unroll(loops.loop(loops.reduction(reduce.axes.size() - 1)).name);
  // Loops over results are outermost, then the reduction's loops, then the tile.
  std::vector<std::string> order;
  for (bool reduces : {false, true})
    for (std::size_t id : loops.order())
      if (loops.loop(id).reduces == reduces &&
          std::find(inner.begin(), inner.end(), loops.loop(id).name) == inner.end())
        order.push_back(loops.loop(id).name);
  order.insert(order.end(), inner.begin(), inner.end());
  if (order != names_in_order(loops)) handle.reorder(order);
}

}  // namespace

std::optional<Match> match_reduction(const StageContext& context) {
  const ScheduledStage& stage = context.stage;
  const Target& target = context.target;
  if (stage.reduction() == nullptr) return std::nullopt;
  const Reduce& reduce = *stage.reduction();
  const auto vector = choose_vector_axis(stage, target, context.outer);
  if (!vector) return std::nullopt;
  const Axes by_default = axes_of(context, reduce, *vector);
  const Expr& extent = vector->reduces ? reduce.axes[vector->axis].extent : stage.axes[vector->axis].extent;
  const std::int64_t lanes = lanes_for(stage, extent, target);
  const RegisterTile tile = tile_for(stage, reduce, by_default, lanes, target);
  const std::int64_t points = vector->reduces ? 0 : stencil_points(reduce);
  Match match;
  match.space.knobs = {
      tile_knob("tile", {"rows", "vectors"}, tile_candidates(by_default, target), {tile.rows, tile.vectors}),
      number_knob("lanes", KnobKind::tile, lane_candidates(native_lanes(stage, target)), lanes)};
  if (points > 0 && points <= kMaxUnrolledPoints)
    match.space.knobs.push_back(flag_knob("unroll_window", points * tile.rows * tile.vectors <= kMaxUnrolledPoints));
  std::vector<Axes> choices;
  std::vector<std::string> names;
  std::size_t default_choice = 0;
  for (const VectorAxis& other : vector_axes(context, reduce)) {
    if (other == *vector) default_choice = choices.size();
    choices.push_back(axes_of(context, reduce, other));
    names.push_back(loop_name(stage.loops, other));
  }
  if (choices.size() > 1) match.space.knobs.push_back(order_knob("vector", std::move(names), default_choice));
  const bool may_read_ahead = context.outer == 0 && context.epilogues.empty() && stage.is_result;
  match.apply = [name = stage.name, choices, default_choice, points, may_read_ahead, epilogues = context.epilogues](
                    Schedule& schedule, const Point& point) {
    const std::size_t first = schedule.directives().size();
    StageHandle handle = schedule[name];
    const auto choice = static_cast<std::size_t>(point.number("vector", static_cast<std::int64_t>(default_choice)));
    const Axes& axes = choices[choice];
    RegisterTile chosen = {point["tile"][0], point["tile"][1]};
    if (choice != default_choice) chosen = along(axes, chosen);
    const bool unrolls = point.flag("unroll_window") && !axes.vector.reduces;
    schedule_reduction(handle, stage_of(schedule, handle), axes, chosen, point.number("lanes"), unrolls);
    Scheduled scheduled = with_epilogues(schedule, name, first, epilogues);
    if (unrolls && may_read_ahead) scheduled.unrolled_vectors = points * chosen.rows * chosen.vectors;
    return scheduled;
  };
  return match;
}

}  // namespace ferry::autoschedule
