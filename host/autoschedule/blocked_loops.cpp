#include "host/autoschedule/blocked_loops.h"

#include "crosscompile/ir/substitute.h"
#include "host/autoschedule/default_loops.h"

#include <algorithm>

namespace ferry::autoschedule {

using namespace ir;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;
using schedule::StageLoops;

namespace {

// Separates so many steps of a loop over the depth from the others.
void unroll_steps(StageHandle handle, const std::string& loop, std::int64_t extent, std::int64_t steps,
                  BlockedLoops& loops) {
  loops.steps = loop;
  if (extent <= steps) return;
  const auto [outer, inner] = handle.split(loop, steps);
  loops.depth.push_back(outer);
  loops.steps = inner;
}

// Splits the loops of the contraction's stage, or of a stage with the same axes.
BlockedLoops split_loops(const ScheduledStage& stage, const StageLoops& loops, StageHandle handle,
                         const Contraction& contraction, const Blocking& blocking) {
  const auto [tile, lanes] = std::pair(blocking.tile, blocking.lanes);
  BlockedLoops result;
  const bool is_contraction = handle.name() == stage.name;
  const std::vector<Axis> depth = is_contraction ? stage.reduction()->axes : std::vector<Axis>{};
  const auto depends = [&](std::size_t axis) {
    return std::any_of(contraction.column_load->indices.begin(), contraction.column_load->indices.end(),
                       [&](const Expr& index) { return uses_var(index, stage.axes[axis].var); });
  };
  const std::int64_t row_extent = constant_extent(stage.axes[contraction.row].extent);
  for (std::size_t a = 0; a < stage.axes.size(); ++a) {
    const std::string name = loops.loop(loops.spatial(a)).name;
    if (a == contraction.column || (contraction.blocks && a == contraction.blocks->axis)) continue;
    std::int64_t tiled = 1;
    if (a == contraction.row) tiled = contraction.blocks ? std::min(tile.rows, row_extent) : tile.rows;
    if (a == contraction.outer_row && tile.rows > row_extent) tiled = tile.rows / row_extent;
    if (tiled > 1) {
      const auto [outer, inner] = handle.split(name, tiled);
      result.rows.push_back(outer);
      result.tile.push_back(inner);
    } else if (depends(a)) {
      result.batches.push_back(name);
    } else {
      result.rows.push_back(name);
    }
  }
  for (std::size_t a = 0; a < depth.size(); ++a) {
    const std::string name = loops.loop(loops.reduction(a)).name;
    if (contraction.group && a == contraction.group->axis) {
      result.group = name;
      continue;
    }
    if (contraction.group && contraction.group->merges && a + 1 == contraction.group->axis) {
      unroll_steps(handle, name, constant_extent(depth[a].extent), 2, result);
      continue;
    }
    std::string steps = name;
    std::int64_t extent = constant_extent(depth[a].extent);
    if (blocking.depth_block < contraction.depth) {
      const auto [outer, inner] = handle.split(name, blocking.depth_block);
      result.depth_block = outer;
      steps = inner;
      extent = blocking.depth_block;
    }
    if (a + 1 == depth.size() && blocking.steps > 1)
      unroll_steps(handle, steps, extent, blocking.steps, result);
    else
      result.depth.push_back(steps);
  }
  const std::string column = loops.loop(loops.spatial(contraction.column)).name;
  if (contraction.blocks) {
    const auto [columns, vectors] =
        handle.split(loops.loop(loops.spatial(contraction.blocks->axis)).name, tile.vectors);
    result.columns = columns;
    result.tile.insert(result.tile.end(), {vectors, column});
    return result;
  }
  const auto [columns, inner] = handle.split(column, tile.vectors * lanes);
  result.columns = columns;
  if (tile.vectors > 1) {
    const auto [vectors, lane] = handle.split(inner, lanes);
    result.tile.push_back(vectors);
    result.tile.push_back(lane);
  } else {
    result.tile.push_back(inner);
  }
  return result;
}

}  // namespace

BlockedLoops make_loops(Schedule& schedule, StageHandle handle, const ScheduledStage& stage,
                        const Contraction& contraction, const Blocking& blocking) {
  const BlockedLoops loops =
      split_loops(stage, StageLoops(stage_of(schedule, handle).loops), handle, contraction, blocking);
  const std::vector<std::string> columns = {loops.columns};
  const auto depth_block = loops.depth_block.empty() ? std::vector<std::string>{} : std::vector{loops.depth_block};
  const auto group = loops.group.empty() ? std::vector<std::string>{} : std::vector{loops.group};
  const auto steps = loops.steps.empty() ? std::vector<std::string>{} : std::vector{loops.steps};
  handle.reorder(blocking.columns_outermost
                     ? joined(loops.batches, columns, depth_block, loops.rows, loops.depth, steps, loops.tile, group)
                     : joined(loops.batches, depth_block, loops.rows, columns, loops.depth, steps, loops.tile, group));
  for (const std::string& name : steps) handle.unroll(name);
  const std::size_t inside_rows = contraction.blocks || blocking.tile.vectors > 1 ? 2 : 1;  // over vectors and lanes
  const bool keeps_rows = handle.name() != stage.name && blocking.epilogue == EpiloguePlace::loop;
  for (std::size_t i = keeps_rows ? loops.tile.size() - inside_rows : 0; i + 1 < loops.tile.size(); ++i)
    handle.unroll(loops.tile[i]);
  if (loops.group.empty())
    handle.vectorize(loops.tile.back());
  else
    handle.tensorize(loops.tile.back(), "dot");
  return loops;
}

Packing column_packing(const Contraction& contraction, RegisterTile tile, std::int64_t lanes) {
  if (!contraction.blocks || tile.vectors == 1)
    return {contraction.column_load, contraction.column_dimension, tile.vectors * lanes, lanes};
  Packing packing = {contraction.column_load, contraction.blocks->dimension, tile.vectors, lanes,
                     contraction.column_dimension};
  if (contraction.group) packing.group_dimension = contraction.group->dimension;
  return packing;
}

}  // namespace ferry::autoschedule
