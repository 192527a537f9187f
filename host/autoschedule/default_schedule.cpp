#include "host/autoschedule/default_schedule.h"

#include "host/autoschedule/blocked_contraction.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/gemv.h"
#include "host/autoschedule/gpu_schedule.h"
#include "host/autoschedule/inline_choice.h"
#include "host/autoschedule/read_ahead.h"
#include "host/autoschedule/reader_fusion.h"
#include "host/autoschedule/register_tile.h"
#include "host/autoschedule/row_fusion.h"
#include "host/autoschedule/stencil.h"
#include "host/schedule/stages/access.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/substitute.h"

#include <algorithm>
#include <optional>

namespace ferry::schedule {

using namespace ir;

namespace {

// Number of vectors in flight for a reduction without rows to interleave.
constexpr std::int64_t kReductionVectors = 4;
// Small stencils, as in pooling, are fully unrolled up to this many vectors in a tile: their loops would cost more than
// the work they repeat.
constexpr std::int64_t kMaxUnrolledPoints = 36;

struct VectorAxis {
  bool reduces = false;
  std::size_t axis = 0;
};

std::int64_t ceil_to(std::int64_t value, std::int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

std::int64_t lanes_for(const ScheduledStage& stage, const Expr& extent, const Target& target) {
  const std::int64_t native = native_lanes(stage, target), count = constant_extent(extent);
  if (count == 0) return native;
  std::int64_t lanes = native;
  while (lanes > count) lanes /= 2;
  // Without masks a tail runs one element at a time, so half a vector that divides the extent evenly is better.
  if (!target.has_masks && count % lanes != 0 && lanes >= 4 && count % (lanes / 2) == 0) lanes /= 2;
  return lanes;
}

double cost_of(Step step) {
  switch (step) {
    case Step::none: return 0;
    case Step::contiguous: return 1;
    case Step::skipping: return 2;
    case Step::strided: return 4;
  }
  return 4;
}

// Returns the axis that needs the fewest separate loads and stores for each vector element, or nothing if every axis
// has one point, or if only the axes of a user-defined reduction are left. The first `outer` axes are not vectorised.
std::optional<VectorAxis> choose_vector_axis(const ScheduledStage& stage, const Target& target, std::size_t outer) {
  std::vector<const Load*> loads;
  for (const Expr& source : sources_of(stage))
    for (const Load* load : loads_of(source)) loads.push_back(load);
  std::optional<VectorAxis> best;
  double best_cost = 0;
  auto offer = [&](VectorAxis axis, const Axis& loop, double store) {
    if (is_constant(loop.extent, 1)) return;
    double cost = store;
    for (const Load* load : loads) cost += cost_of(step_of(*load, loop.var));
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

// Returns the spatial axis along which the loads that move with the vector axis are invariant, so that a register tile
// reuses them.
std::optional<std::size_t> choose_row_axis(const ScheduledStage& stage, const Reduce& reduce, VectorAxis vector,
                                           std::size_t outer) {
  const Expr& var = vector.reduces ? reduce.axes[vector.axis].var : stage.axes[vector.axis].var;
  std::optional<std::size_t> best;
  for (std::size_t i = stage.axes.size(); i-- > outer;) {
    if ((!vector.reduces && i == vector.axis) || is_constant(stage.axes[i].extent, 1)) continue;
    bool reused = false;
    for (const Expr& source : reduce.sources)
      for (const Load* load : loads_of(source))
        reused |= step_of(*load, var) != Step::none && step_of(*load, stage.axes[i].var) == Step::none;
    if (reused && !best) best = i;
  }
  return best;
}

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
      is_short(stage.axes.back()) || step_of(*loads[0], stage.axes.back().var) != Step::strided)
    return std::nullopt;
  for (std::size_t a = outer; a + 1 < stage.axes.size(); ++a)
    if (step_of(*loads[0], stage.axes[a].var) == Step::contiguous && !is_short(stage.axes[a])) return a;
  return std::nullopt;
}

// Vectorises the axis that is read and unrolls as many vectors as there are lanes: code generation transposes the tile.
void schedule_transposed(StageHandle handle, const ScheduledStage& stage, std::size_t axis, std::int64_t lanes) {
  const StageLoops loops = stage.loops;
  std::vector<std::string> order;
  for (std::size_t a = 0; a + 1 < stage.axes.size(); ++a)
    if (a != axis) order.push_back(loops.loop(loops.spatial(a)).name);
  const auto [blocks, lane] = handle.split(loops.loop(loops.spatial(axis)).name, lanes);
  const auto [rows, row] = handle.split(loops.loop(loops.spatial(stage.axes.size() - 1)).name, lanes);
  order.insert(order.end(), {blocks, rows, row, lane});
  handle.reorder(order).unroll(row).vectorize(lane);
}

void schedule_injective(const Schedule& schedule, StageHandle handle, const Target& target, std::size_t outer) {
  const ScheduledStage& stage = stage_of(schedule, handle);
  const std::int64_t tile = native_lanes(stage, target);
  if (const auto axis = transposed_axis(stage, tile, outer)) return schedule_transposed(handle, stage, *axis, tile);
  if (const auto vector = choose_vector_axis(stage, target, outer)) {
    const std::int64_t lanes = lanes_for(stage, stage.axes[vector->axis].extent, target);
    if (lanes > 1) {
      const std::string inner = handle.split(stage.loops.loop(stage.loops.spatial(vector->axis)).name, lanes).second;
      std::vector<std::string> order = names_in_order(stage.loops);
      if (order.back() != inner) {
        order.erase(std::find(order.begin(), order.end(), inner));
        order.push_back(inner);
        handle.reorder(order);
      }
      handle.vectorize(inner);
    }
  }
}

RegisterTile tile_for(const ScheduledStage& stage, const Reduce& reduce, VectorAxis vector,
                      std::optional<std::size_t> rows, std::int64_t lanes, const Target& target) {
  const std::int64_t columns =
      constant_extent(vector.reduces ? reduce.axes[vector.axis].extent : stage.axes[vector.axis].extent);
  const std::int64_t row_extent = rows ? constant_extent(stage.axes[*rows].extent) : 0;
  RegisterTile tile = choose_register_tile(target.vector_registers, row_extent, rows.has_value(), columns, lanes);
  if (!vector.reduces) return tile;
  // The lanes hold partial results: several rows are interleaved if there are any, otherwise several vectors.
  tile.vectors = rows ? 1 : kReductionVectors;
  tile.rows = rows ? std::min<std::int64_t>(tile.rows * 2, 8) : 1;
  if (row_extent > 0) tile.rows = std::min(tile.rows, row_extent);
  while (tile.vectors > 1 && columns > 0 && tile.vectors * lanes > columns) tile.vectors /= 2;
  return tile;
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

// Returns the number of unrolled vectors of the window, or 0 if it is not unrolled.
std::int64_t schedule_reduction(const Schedule& schedule, StageHandle handle, const Target& target, std::size_t outer) {
  const ScheduledStage& stage = stage_of(schedule, handle);
  const Reduce& reduce = *stage.reduction();
  const auto vector = choose_vector_axis(stage, target, outer);
  if (!vector) return 0;
  const Expr& extent = vector->reduces ? reduce.axes[vector->axis].extent : stage.axes[vector->axis].extent;
  const std::int64_t lanes = lanes_for(stage, extent, target);
  const auto rows = choose_row_axis(stage, reduce, *vector, outer);
  const RegisterTile tile = tile_for(stage, reduce, *vector, rows, lanes, target);
  const StageLoops& loops = stage.loops;
  const std::size_t column_loop = vector->reduces ? loops.reduction(vector->axis) : loops.spatial(vector->axis);
  std::vector<std::string> inner;
  if (rows && tile.rows > 1) {
    inner.push_back(handle.split(loops.loop(loops.spatial(*rows)).name, tile.rows).second);
    handle.unroll(inner.back());
  }
  for (std::string& name : split_columns(handle, loops.loop(column_loop).name, vector->reduces, tile, lanes))
    inner.push_back(std::move(name));
  const std::int64_t points = stencil_points(reduce);
  const std::int64_t unrolled = points * tile.rows * tile.vectors;
  const bool unrolls = !vector->reduces && points > 0 && unrolled <= kMaxUnrolledPoints;
  if (unrolls)
    for (std::size_t a = 0; a < reduce.axes.size(); ++a) handle.unroll(loops.loop(loops.reduction(a)).name);
  // Loops over results are outermost, then the reduction's loops, then the tile.
  std::vector<std::string> order;
  for (bool reduces : {false, true})
    for (std::size_t id : loops.order())
      if (loops.loop(id).reduces == reduces &&
          std::find(inner.begin(), inner.end(), loops.loop(id).name) == inner.end())
        order.push_back(loops.loop(id).name);
  order.insert(order.end(), inner.begin(), inner.end());
  if (order != names_in_order(loops)) handle.reorder(order);
  return unrolls ? unrolled : 0;
}

// Returns the product that the stage computes, if it is scheduled as one.
std::optional<Contraction> scheduled_contraction(const ScheduledStage& stage, const Target& target,
                                                 const Constants& constants) {
  const std::int64_t lanes = native_lanes(stage, target);
  const auto contraction = find_contraction(stage, lanes, constants);
  const bool is_worth =
      contraction && (wants_blocks(*contraction, lanes, target) || wants_gemv(*contraction, lanes, target));
  return is_worth ? contraction : std::nullopt;
}

// Returns the stages whose tiles take several rows at once, and their epilogues.
std::vector<std::string> stages_with_tiles(const Stages& stages, const Target& target, const Constants& constants) {
  std::vector<std::string> names;
  for (const ScheduledStage& stage : stages) {
    const Reduce* reduce = stage.reduction();
    if (reduce == nullptr) continue;
    const auto vector = choose_vector_axis(stage, target, 0);
    if (is_stencil(stage) || scheduled_contraction(stage, target, constants) ||
        (vector && choose_row_axis(stage, *reduce, *vector, 0)))
      names.push_back(stage.name);
  }
  // Epilogues are computed in the loops of those stages, not in rows.
  for (std::size_t i = 0, tiles = names.size(); i < tiles; ++i)
    for (std::string& reader : finishing_stages(stages, *find_stage(stages, names[i]), ""))
      names.push_back(std::move(reader));
  return names;
}

// The first `outer` axes are loops in which other stages are computed. Returns the epilogues that were scheduled
// together with the stage; `taken` may not become one.
std::vector<std::string> schedule_stage(Schedule& schedule, StageHandle handle, const Target& target, std::size_t outer,
                                        const std::string& taken, const Constants& constants) {
  const ScheduledStage& stage = stage_of(schedule, handle);
  const std::size_t first = schedule.directives().size();
  const auto contraction = scheduled_contraction(stage, target, constants);
  const std::int64_t lanes = native_lanes(stage, target);
  std::vector<std::string> readers;
  if (stage.reduction() != nullptr && outer == 0) readers = finishing_stages(schedule.stages(), stage, taken);
  if (contraction && wants_blocks(*contraction, lanes, target)) {
    if (blocks_depth(stage, *contraction, lanes, target)) readers.clear();
    schedule_blocked(schedule, handle, *contraction, lanes, target, readers.empty() ? "" : readers.back());
    if (!readers.empty()) place_between(schedule, handle.name(), first, readers);
    return readers;
  }
  if (contraction) {
    schedule_gemv(schedule, handle, *contraction, lanes);
    return {};
  }
  std::int64_t unrolled = 0;
  if (is_stencil(stage))
    schedule_stencil(handle, stage, lanes_for(stage, stage.axes.back().extent, target), target);
  else if (stage.reduction() != nullptr)
    unrolled = schedule_reduction(schedule, handle, target, outer);
  else
    schedule_injective(schedule, handle, target, outer);
  if (unrolled > 0 && outer == 0 && readers.empty() && stage.is_result) read_ahead(schedule, handle, unrolled, target);
  if (readers.empty() || !fuse_into_readers(schedule, handle.name(), first, readers)) return {};
  make_parallel(schedule, schedule[readers.back()]);
  return readers;
}

// Whether all of the stage's results exceed any cache, so that none keeps them for their next reader.
bool exceeds_caches(const ScheduledStage& stage) {
  constexpr std::int64_t kLargestCache = std::int64_t{64} << 20;
  return std::all_of(stage.outputs.begin(), stage.outputs.end(),
                     [](const BufferRef& output) { return constant_bytes(*output) > kLargestCache; });
}

Schedule decide(Schedule schedule, const Target& target, const Constants& constants) {
  for (const std::string& stage : stages_to_inline(schedule.stages())) schedule[stage].compute_inline();
  for (const std::string& stage : borders_of_stencils(schedule.stages())) schedule[stage].compute_inline();
  if (target.is_gpu()) return decide_for_gpu(std::move(schedule), target);
  const RowFusion fusion =
      find_row_fusion(schedule.stages(), stages_with_tiles(schedule.stages(), target, constants), target);
  for (const std::string& name : fusion.stages) {
    const ScheduledStage& result = *find_stage(schedule.stages(), fusion.result);
    schedule[name].compute_at(fusion.result, result.loops.loop(result.loops.spatial(fusion.outer - 1)).name);
  }
  std::vector<std::string> stages;  // excludes the copies that packing adds, which are already scheduled
  for (const ScheduledStage& stage : schedule.stages())
    if (stage.place != Place::inlined && stage.external == nullptr) stages.push_back(stage.name);
  std::vector<std::string> epilogues;
  for (const std::string& name : stages) {
    const ScheduledStage& scheduled = stage_of(schedule, schedule[name]);
    if (scheduled.is_result && exceeds_caches(scheduled)) schedule[name].stream_stores();
    if (std::find(epilogues.begin(), epilogues.end(), name) != epilogues.end()) continue;
    const bool in_rows = stage_of(schedule, schedule[name]).place == Place::attached;
    const std::size_t outer = in_rows || name == fusion.result ? fusion.outer : 0;
    for (std::string& reader : schedule_stage(schedule, schedule[name], target, outer, fusion.result, constants))
      epilogues.push_back(std::move(reader));
    const ScheduledStage& stage = stage_of(schedule, schedule[name]);
    if (stage.place == Place::root) make_parallel(schedule, schedule[name]);
  }
  return schedule;
}

// Whether any stage calls a C function on whole tensors.
bool calls_functions(const Stages& stages) {
  return std::any_of(stages.begin(), stages.end(), [](const auto& stage) { return stage.external != nullptr; });
}

// Whether every loop that becomes vectors or unrolled copies has a constant extent.
bool has_constant_tiles(const Schedule& schedule) {
  for (const ScheduledStage& stage : schedule.stages()) {
    for (const std::size_t id : stage.loops.order()) {
      const Loop& loop = stage.loops.loop(id);
      const bool wants_constant = loop.kind == ForKind::vectorized || loop.kind == ForKind::unrolled;
      if (wants_constant && as_int(loop.extent) == nullptr) return false;
    }
  }
  return true;
}

}  // namespace

Schedule default_schedule(const lang::Program& program, const Target& target, const Sizes& sizes) {
  Constants constants;
  for (const lang::Parameter& parameter : program.parameters)
    if (parameter.constant) constants.insert(parameter.name);
  if (!sizes.empty() && !calls_functions(stages_of(program))) {
    const Schedule sized = decide(Schedule(stages_at(program, sizes)), target, constants);
    try {
      Schedule schedule(program);
      for (const Directive& directive : sized.directives()) schedule.apply(directive);
      if (has_constant_tiles(schedule)) return schedule;
    } catch (const CompileError&) {
      // Some directive is legal only with constant sizes.
    }
  }
  return decide(Schedule(program), target, constants);
}

}  // namespace ferry::schedule
