#include "host/autoschedule/packed_operands.h"

#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/transposed.h"

#include <algorithm>
#include <vector>

namespace ferry::autoschedule {

using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;
using schedule::StageLoops;

namespace {

std::string dimension_name(std::size_t dimension) { return "d" + std::to_string(dimension); }

// Returns "(d0, d1, ...) -> (...)", with the dimensions but these two in order, followed by the parts.
std::string layout_text(const DotOperand& operand, const std::string& parts) {
  std::string axes, others;
  for (std::size_t d = 0; d < operand.rank; ++d) {
    axes += (d == 0 ? "" : ", ") + dimension_name(d);
    if (d != operand.depth_dimension && d != operand.own_dimension) others += dimension_name(d) + ", ";
  }
  return "(" + axes + ") -> (" + others + parts + ")";
}

// Returns the names of the loops over the dimensions but these two.
std::vector<std::string> other_loops(const StageLoops& loops, const DotOperand& operand) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < operand.rank; ++d)
    if (d != operand.depth_dimension && d != operand.own_dimension) names.push_back(loops.loop(loops.spatial(d)).name);
  return names;
}

std::string loop_over(const Schedule& schedule, const StageHandle& handle, std::size_t dimension) {
  const StageLoops& loops = stage_of(schedule, handle).loops;
  return loops.loop(loops.spatial(dimension)).name;
}

}  // namespace

void pad(Schedule& schedule, const std::string& copy, std::size_t dimension, std::int64_t multiple) {
  StageHandle handle = schedule[copy];
  handle.apply("pad", {loop_over(schedule, handle, dimension), std::to_string(multiple)});
}

void pack_columns(Schedule& schedule, const std::string& copy, const PackedColumns& columns) {
  StageHandle handle = schedule[copy];
  const DotOperand& operand = columns.operand;
  const std::string column = dimension_name(operand.own_dimension), depth = dimension_name(operand.depth_dimension);
  const std::string group = std::to_string(columns.group), panel = std::to_string(columns.panel);
  handle.transform_layout(layout_text(operand, column + " / " + panel + ", " + depth + " / " + group + ", " + column +
                                                   " % " + panel + ", " + depth + " % " + group));
  std::vector<std::string> order = other_loops(stage_of(schedule, handle).loops, operand);
  const bool reads_along_sums = operand.is_contiguous;
  const auto [groups, in_group] = handle.split(loop_over(schedule, handle, operand.depth_dimension), columns.group);
  const auto [panels, in_panel] = handle.split(loop_over(schedule, handle, operand.own_dimension), columns.panel);
  order.insert(order.end(), {panels, groups});
  if (reads_along_sums) {
    order.insert(order.end(), {in_panel, in_group});
    handle.reorder(order).vectorize(in_group);
    return;
  }
  // Vectors along the columns, one for each element of a group, are interleaved in registers.
  const std::int64_t lanes = columns.panel & -columns.panel;
  std::string lane = in_panel;
  if (lanes < columns.panel) {
    const auto [vectors, in_vector] = handle.split(in_panel, lanes);
    order.push_back(vectors);
    lane = in_vector;
  }
  order.insert(order.end(), {in_group, lane});
  handle.reorder(order).unroll(in_group).vectorize(lane);
}

void copy_rows(Schedule& schedule, const std::string& copy, const DotOperand& rows, const Target& target) {
  StageHandle handle = schedule[copy];
  const auto lanes = static_cast<std::int64_t>(std::max(target.lanes(1), 1U));
  const std::string depth = loop_over(schedule, handle, rows.depth_dimension);
  if (rows.depth_dimension + 1 == rows.rank) {
    handle.vectorize(handle.split(depth, lanes).second);
    make_parallel(schedule, handle);
    return;
  }
  const bool is_transposed = rows.own_dimension < rows.rank;
  const std::int64_t tile = is_transposed ? transposed_tile(lanes) : lanes;
  std::vector<std::string> order = other_loops(stage_of(schedule, handle).loops, rows);
  std::string parts = dimension_name(rows.depth_dimension);
  const auto [blocks, in_block] = handle.split(depth, tile);
  if (is_transposed) {
    handle.transform_layout(layout_text(rows, dimension_name(rows.own_dimension) + ", " + parts));
    const auto [vectors, lane] = handle.split(loop_over(schedule, handle, rows.own_dimension), tile);
    order.insert(order.end(), {vectors, blocks, in_block, lane});
    handle.reorder(order).unroll(in_block).vectorize(lane);
  } else {
    handle.transform_layout(layout_text(rows, parts));
    order.insert(order.end(), {blocks, in_block});
    handle.reorder(order);
  }
  make_parallel(schedule, handle);
}

}  // namespace ferry::autoschedule
