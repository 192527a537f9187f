#include "host/autoschedule/block_sums.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/substitute.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/epilogue_fusion.h"
#include "host/autoschedule/register_tile.h"
#include "host/autoschedule/vector_axis.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace ferry::autoschedule {

using namespace ir;
using schedule::ComputeKind;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;
using schedule::StageLoops;

namespace {

// Longer last axes of a block's sum stay a loop.
constexpr std::int64_t kMostUnrolled = 16;
// Constants that few tiles use are prefetched so many bytes ahead, because reading them takes a large part of the time:
// by default, and as choices.
constexpr std::int64_t kFewRowTiles = 32, kStreamAhead = 4096, kLeastStreamAhead = 1024, kMostStreamAhead = 8192;

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

bool is_sum(const ScheduledStage& stage) {
  const Reduce* reduce = stage.reduction();
  return reduce != nullptr && reduce->sources.size() == 1 && reduce->reducer->op == ReduceOp::sum &&
         !reduce->condition.defined() && stage.compute_kind == ComputeKind::root && stage.outputs.size() == 1;
}

// Returns the axis of the sums of blocks over which the total goes, if the others are those of the total in order.
std::optional<std::size_t> block_axis(const ScheduledStage& sums, const ScheduledStage& total) {
  const Reduce& reduce = *total.reduction();
  const Load* load = nullptr;
  for (const Load* one : analysis::loads_of(reduce.sources[0]))
    if (one->buffer == sums.outputs[0]) {
      if (load != nullptr) return std::nullopt;
      load = one;
    }
  if (load == nullptr || reduce.axes.size() != 1 || load->indices.size() != total.axes.size() + 1) return std::nullopt;
  const auto found =
      std::ranges::find_if(load->indices, [&](const Expr& index) { return index.same_as(reduce.axes[0].var); });
  const auto block = static_cast<std::size_t>(found - load->indices.begin());
  // The last axis becomes vectors.
  if (block >= total.axes.size()) return std::nullopt;
  for (std::size_t d = 0; d < total.axes.size(); ++d)
    if (!load->indices[d < block ? d : d + 1].same_as(total.axes[d].var)) return std::nullopt;
  return block;
}

struct BlockSums {
  std::string total;
  std::size_t block = 0;     // axis of the sums over which the total goes
  std::size_t rows = kNone;  // axis of the sums
  std::int64_t lanes = 1;
  std::vector<std::string> epilogues;  // stages that may be computed in the loops of the total
  // Constants that vary from column to column, which may be prefetched: those of the sums, and those of the total.
  std::vector<ir::BufferRef> constants, constants_of_total;
};

// Returns the large constants that the stage's sum reads in vectors along its last axis.
std::vector<BufferRef> streamed_constants(const ScheduledStage& stage, const StageContext& context) {
  std::vector<BufferRef> found;
  if (!context.target.capabilities.row_prefetch) return found;
  analysis::for_each_load(stage.reduction()->sources[0], [&](const Load& load) {
    const bool is_streamed =
        std::ranges::any_of(load.indices, [&](const Expr& index) { return uses_var(index, stage.axes.back().var); });
    if (is_streamed && context.constants.contains(load.buffer->name) &&
        constant_bytes(*load.buffer) > l1_bytes(context.target) && std::ranges::find(found, load.buffer) == found.end())
      found.push_back(load.buffer);
  });
  return found;
}

std::string loop_along(const Schedule& schedule, const StageHandle& handle, std::size_t axis) {
  const StageLoops& loops = stage_of(schedule, handle).loops;
  return loops.loop(loops.spatial(axis)).name;
}

// The loops over the results of a stage: those around the reduction, and those of a tile.
struct TiledLoops {
  std::vector<std::string> outside, tile;
};

TiledLoops split_tiles(const Schedule& schedule, StageHandle handle, std::size_t rows, RegisterTile tile,
                       std::int64_t lanes) {
  TiledLoops loops;
  std::string row_blocks;
  const std::size_t last = stage_of(schedule, handle).axes.size() - 1;
  for (std::size_t axis = 0; axis < last; ++axis) {
    const std::string name = loop_along(schedule, handle, axis);
    if (rows != axis) {
      loops.outside.push_back(name);
      continue;
    }
    const auto [outer, inner] = handle.split(name, tile.rows);
    row_blocks = outer;
    loops.tile.push_back(inner);
  }
  const auto [columns, inside] = handle.split(loop_along(schedule, handle, last), tile.vectors * lanes);
  const auto [vectors, lane] = handle.split(inside, lanes);
  // Rows inside of columns reuse these from the cache.
  loops.outside.push_back(columns);
  if (!row_blocks.empty()) loops.outside.push_back(row_blocks);
  loops.tile.insert(loops.tile.end(), {vectors, lane});
  return loops;
}

void order_tiles(StageHandle handle, const TiledLoops& loops, const std::vector<std::string>& reduction) {
  std::vector<std::string> order = loops.outside;
  order.insert(order.end(), reduction.begin(), reduction.end());
  order.insert(order.end(), loops.tile.begin(), loops.tile.end());
  handle.reorder(order).vectorize(loops.tile.back());
  for (std::size_t i = 0; i + 1 < loops.tile.size(); ++i) handle.unroll(loops.tile[i]);
}

// Prefetches rows of a tile's columns of these tensors in each iteration of the loop.
void prefetch_rows(StageHandle handle, const std::vector<BufferRef>& tensors, const std::string& loop,
                   std::int64_t columns, std::int64_t bytes_ahead) {
  for (const BufferRef& tensor : tensors) {
    const std::int64_t bytes = columns * static_cast<std::int64_t>(dtype_bytes(tensor->dtype));
    if (bytes_ahead >= bytes) handle.apply("prefetch", {tensor->name, loop, std::to_string(bytes_ahead / bytes)});
  }
}

Scheduled schedule_block_sums(Schedule& schedule, const std::string& name, const BlockSums& choice, RegisterTile tile,
                              std::int64_t bytes_ahead) {
  StageHandle sums = schedule[name], total = schedule[choice.total];
  const auto reductions = [&](const StageHandle& handle) {
    const ScheduledStage& stage = stage_of(schedule, handle);
    std::vector<std::string> names;
    for (std::size_t a = 0; a < stage.reduction()->axes.size(); ++a)
      names.push_back(stage.loops.loop(stage.loops.reduction(a)).name);
    return names;
  };
  const std::size_t first = schedule.directives().size();
  const std::size_t rows = choice.rows == kNone || choice.rows < choice.block ? choice.rows : choice.rows - 1;
  const std::vector<std::string> blocks = reductions(total);
  order_tiles(total, split_tiles(schedule, total, rows, tile, choice.lanes), blocks);

  const std::vector<std::string> steps = reductions(sums);
  const std::int64_t last = constant_extent(stage_of(schedule, sums).reduction()->axes.back().extent);
  order_tiles(sums, split_tiles(schedule, sums, choice.rows, tile, choice.lanes), steps);
  const std::int64_t columns = tile.vectors * choice.lanes;
  prefetch_rows(total, choice.constants_of_total, blocks[0], columns, bytes_ahead);
  prefetch_rows(sums, choice.constants, steps[0], columns, bytes_ahead);
  if (steps.size() > 1 && last > 0 && last <= kMostUnrolled) sums.unroll(steps.back());
  sums.compute_at(choice.total, blocks[0]);
  Scheduled scheduled = with_epilogues(schedule, choice.total, first, choice.epilogues);
  scheduled.epilogues.push_back(choice.total);
  return scheduled;
}

}  // namespace

std::optional<std::string> sum_of_blocks(const schedule::Stages& stages, const ScheduledStage& stage,
                                         const Target& target) {
  if (!is_sum(stage) || stage.is_final() || native_lanes(stage, target) < 2) return std::nullopt;
  const std::vector<const ScheduledStage*> readers = readers_of(stages, stage);
  if (readers.size() != 1 || !is_sum(*readers[0]) || !block_axis(stage, *readers[0])) return std::nullopt;
  const auto vector = choose_vector_axis(stage, target, 0);
  if (!vector || vector->reduces || vector->axis + 1 != stage.axes.size()) return std::nullopt;
  return readers[0]->name;
}

std::optional<Match> match_block_sums(const StageContext& context) {
  const ScheduledStage& stage = context.stage;
  const schedule::Stages& stages = context.schedule.stages();
  const auto name = context.outer == 0 ? sum_of_blocks(stages, stage, context.target) : std::nullopt;
  if (!name) return std::nullopt;
  const ScheduledStage& total = *find_stage(stages, *name);
  BlockSums choice = {*name,
                      *block_axis(stage, total),
                      kNone,
                      native_lanes(stage, context.target),
                      epilogue_stages(stages, total, ""),
                      streamed_constants(stage, context),
                      streamed_constants(total, context)};
  const auto rows = choose_row_axis(stage, *stage.reduction(), {false, stage.axes.size() - 1}, 0);
  if (rows && *rows != choice.block) choice.rows = *rows;
  const TiledAxes axes = {.columns = constant_extent(stage.axes.back().extent),
                          .lanes = choice.lanes,
                          .has_rows = choice.rows != kNone,
                          .rows = choice.rows == kNone ? 0 : constant_extent(stage.axes[choice.rows].extent)};
  const RegisterTile by_default = choose_register_tile(context.target.vector_registers, axes);
  std::vector<KnobValue> tiles;
  for (const RegisterTile& tile : register_tiles(context.target.vector_registers, axes))
    tiles.push_back({tile.rows, tile.vectors});
  Match match;
  match.space.knobs = {tile_knob("tile", {"rows", "vectors"}, std::move(tiles), {by_default.rows, by_default.vectors})};
  if (!choice.constants.empty()) {
    std::vector<std::int64_t> ahead = {0};
    for (std::int64_t bytes = kLeastStreamAhead; bytes <= kMostStreamAhead; bytes *= 2) ahead.push_back(bytes);
    const bool has_few_tiles = axes.rows <= kFewRowTiles * by_default.rows;
    match.space.knobs.push_back(
        number_knob("ahead", KnobKind::grain, std::move(ahead), has_few_tiles ? kStreamAhead : 0));
  }
  match.apply = [stage_name = stage.name, choice](Schedule& schedule, const Point& point) {
    return schedule_block_sums(schedule, stage_name, choice, {point["tile"][0], point["tile"][1]},
                               point.number("ahead", 0));
  };
  return match;
}

}  // namespace ferry::autoschedule
