#include "host/autoschedule/block_tiles.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/substitute.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/epilogue_fusion.h"
#include "host/autoschedule/vector_axis.h"

#include <algorithm>
#include <utility>

namespace ferry::autoschedule {

using namespace ir;
using schedule::ComputeKind;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;
using schedule::StageLoops;

namespace {

// Constants that few tiles use are prefetched so many bytes ahead by default, and as choices.
constexpr std::int64_t kFewRowTiles = 32, kStreamAhead = 4096, kLeastStreamAhead = 1024, kMostStreamAhead = 8192;

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

std::string loop_along(const Schedule& schedule, const StageHandle& handle, std::size_t axis) {
  const StageLoops& loops = stage_of(schedule, handle).loops;
  return loops.loop(loops.spatial(axis)).name;
}

}  // namespace

bool has_vectors_of_columns(const ScheduledStage& sums, const Target& target) {
  const auto vector = choose_vector_axis(sums, target, 0);
  return vector && !vector->reduces && vector->axis + 1 == sums.axes.size();
}

std::optional<std::string> sum_of_blocks(const schedule::Stages& stages, const ScheduledStage& stage,
                                         const Target& target) {
  if (!is_sum(stage) || stage.is_final() || native_lanes(stage, target) < 2) return std::nullopt;
  const std::vector<const ScheduledStage*> readers = readers_of(stages, stage);
  if (readers.size() != 1 || !is_sum(*readers[0]) || !block_axis(stage, *readers[0])) return std::nullopt;
  return readers[0]->name;
}

std::optional<BlockSums> find_block_sums(const StageContext& context) {
  const ScheduledStage& stage = context.stage;
  const schedule::Stages& stages = context.schedule.stages();
  const auto name = context.outer == 0 ? sum_of_blocks(stages, stage, context.target) : std::nullopt;
  if (!name) return std::nullopt;
  const ScheduledStage& total = *find_stage(stages, *name);
  BlockSums found{
      .sums = stage.name,
      .total = *name,
      .block = *block_axis(stage, total),
      .column_extent = constant_extent(stage.axes.back().extent),
      .lanes = native_lanes(stage, context.target),
      .epilogues = epilogue_stages(stages, total, ""),
      .constants_of_total = streamed_constants(total.reduction()->sources[0], total.axes.back().var, context)};
  const auto rows = choose_row_axis(stage, *stage.reduction(), {false, stage.axes.size() - 1}, 0);
  if (rows && *rows != found.block) {
    found.rows = *rows;
    found.row_extent = constant_extent(stage.axes[*rows].extent);
  }
  return found;
}

TiledAxes BlockSums::tiled_axes() const {
  return {.columns = column_extent, .lanes = lanes, .has_rows = rows != kNoAxis, .rows = row_extent};
}

std::vector<BufferRef> streamed_constants(const Expr& value, const Expr& along, const StageContext& context) {
  std::vector<BufferRef> found;
  if (!context.target.capabilities.row_prefetch) return found;
  analysis::for_each_load(value, [&](const Load& load) {
    const bool is_streamed =
        std::ranges::any_of(load.indices, [&](const Expr& index) { return uses_var(index, along); });
    if (is_streamed && context.constants.contains(load.buffer->name) &&
        constant_bytes(*load.buffer) > l1_bytes(context.target) && std::ranges::find(found, load.buffer) == found.end())
      found.push_back(load.buffer);
  });
  return found;
}

SpaceKnob block_tile_knob(const TiledAxes& axes, const Target& target, bool has_whole_tiles) {
  const auto is_whole = [&](std::int64_t vectors) { return axes.columns % (vectors * axes.lanes) == 0; };
  RegisterTile by_default = choose_register_tile(target.vector_registers, axes);
  while (has_whole_tiles && !is_whole(by_default.vectors)) --by_default.vectors;
  std::vector<KnobValue> tiles;
  for (const RegisterTile& tile : register_tiles(target.vector_registers, axes))
    if (!has_whole_tiles || is_whole(tile.vectors)) tiles.push_back({tile.rows, tile.vectors});
  return tile_knob("tile", {"rows", "vectors"}, std::move(tiles), {by_default.rows, by_default.vectors});
}

SpaceKnob ahead_knob(const TiledAxes& axes, const KnobValue& tile) {
  std::vector<std::int64_t> ahead = {0};
  for (std::int64_t bytes = kLeastStreamAhead; bytes <= kMostStreamAhead; bytes *= 2) ahead.push_back(bytes);
  const bool has_few_tiles = axes.rows <= kFewRowTiles * tile[0];
  return number_knob("ahead", KnobKind::grain, std::move(ahead), has_few_tiles ? kStreamAhead : 0);
}

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

std::vector<std::string> TiledLoops::around(const std::vector<std::string>& reduction) const {
  std::vector<std::string> order = outside;
  order.insert(order.end(), reduction.begin(), reduction.end());
  order.insert(order.end(), tile.begin(), tile.end());
  return order;
}

void unroll_tile(StageHandle handle, const TiledLoops& loops) {
  for (std::size_t i = 0; i + 1 < loops.tile.size(); ++i) handle.unroll(loops.tile[i]);
}

std::vector<std::string> reduction_loops(const Schedule& schedule, const StageHandle& handle) {
  const ScheduledStage& stage = stage_of(schedule, handle);
  std::vector<std::string> names;
  for (std::size_t a = 0; a < stage.reduction()->axes.size(); ++a)
    names.push_back(stage.loops.loop(stage.loops.reduction(a)).name);
  return names;
}

std::string schedule_total(Schedule& schedule, const BlockSums& choice, RegisterTile tile) {
  StageHandle total = schedule[choice.total];
  const std::size_t rows = choice.rows == kNoAxis || choice.rows < choice.block ? choice.rows : choice.rows - 1;
  const std::vector<std::string> blocks = reduction_loops(schedule, total);
  const TiledLoops loops = split_tiles(schedule, total, rows, tile, choice.lanes);
  total.reorder(loops.around(blocks)).vectorize(loops.tile.back());
  unroll_tile(total, loops);
  return blocks[0];
}

void prefetch_columns(StageHandle handle, const std::vector<BufferRef>& tensors, const std::string& loop,
                      std::int64_t columns, std::int64_t bytes_ahead) {
  for (const BufferRef& tensor : tensors) {
    const std::int64_t bytes = columns * static_cast<std::int64_t>(dtype_bytes(tensor->dtype));
    if (bytes_ahead >= bytes) handle.apply("prefetch", {tensor->name, loop, std::to_string(bytes_ahead / bytes)});
  }
}

}  // namespace ferry::autoschedule
