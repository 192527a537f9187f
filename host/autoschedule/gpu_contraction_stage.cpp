#include "host/autoschedule/gpu_contraction_stage.h"

#include "crosscompile/analysis/affine.h"
#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/substitute.h"
#include "host/autoschedule/default_loops.h"

#include <algorithm>
#include <vector>

namespace ferry::autoschedule {

using namespace ir;
using analysis::loads_of;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;
using schedule::StageLoops;

namespace {

// In smaller contractions one thread for each result fetches no more than a tile would.
constexpr std::int64_t kLeastSide = 32, kLeastDepth = 16;

bool is_at_least(std::int64_t extent, std::int64_t least) {
  return extent == 0 || extent >= least;  // sizes known only at run time are assumed to be large
}

bool uses(const Load& load, const Expr& var) {
  return std::any_of(load.indices.begin(), load.indices.end(), [&](const Expr& i) { return uses_var(i, var); });
}

// Returns the axis along which `mine` is read and `other` is not.
std::optional<std::size_t> own_axis(const ScheduledStage& stage, const Load& mine, const Load& other) {
  for (std::size_t a = stage.axes.size(); a-- > 0;)
    if (uses(mine, stage.axes[a].var) && !uses(other, stage.axes[a].var)) return a;
  return std::nullopt;
}

// Whether the indices are affine in the tile's variables: then every tile reads the same number of elements, so that
// its copy has a constant size.
bool reads_tiles(const Load& load, const std::vector<Expr>& tiled) {
  for (const Expr& index : load.indices)
    for (const Expr& var : tiled)
      if (uses_var(index, var) && !analysis::affine_in(index, var)) return false;
  return true;
}

GpuOperand operand_of(const ScheduledStage& stage, const Load& load, const Expr& side, const Expr& depth) {
  GpuOperand operand;
  operand.tensor = load.buffer->name;
  operand.type = load.buffer->dtype;
  if (load.buffer->strides.empty() && load.indices.back().same_as(side))
    operand.contiguous = GpuOperand::Contiguous::side;
  else if (load.buffer->strides.empty() && load.indices.back().same_as(depth))
    operand.contiguous = GpuOperand::Contiguous::depth;
  operand.is_plain = std::ranges::all_of(load.indices, [&](const Expr& index) {
    return index.same_as(depth) ||
           std::ranges::any_of(stage.axes, [&](const Axis& axis) { return index.same_as(axis.var); });
  });
  return operand;
}

}  // namespace

GpuProductStages make_product_stages(Schedule& schedule, StageHandle contraction_stage,
                                     const GpuContraction& contraction, const std::string& last) {
  StageHandle sums = last.empty() ? contraction_stage.cache_write("local") : contraction_stage;
  StageHandle result = last.empty() ? contraction_stage : schedule[last];
  StageHandle rows = StageHandle(schedule, contraction.rows.tensor).cache_read("shared", {sums.name()});
  StageHandle columns = StageHandle(schedule, contraction.columns.tensor).cache_read("shared", {sums.name()});
  GpuProductStages stages{sums, result, rows, columns, {}};
  const StageLoops loops = stage_of(schedule, result).loops;
  for (std::size_t a = 0; a < loops.spatial_axes(); ++a)
    if (a != contraction.row && a != contraction.column) stages.batches.push_back(loops.loop(loops.spatial(a)).name);
  return stages;
}

std::optional<GpuContraction> find_gpu_contraction(const ScheduledStage& stage) {
  const Reduce* reduce = stage.reduction();
  if (reduce == nullptr || reduce->sources.size() != 1 || reduce->reducer->op != ReduceOp::sum ||
      reduce->axes.size() != 1 || reduce->condition.defined() || !reduce->init.empty())
    return std::nullopt;
  const std::vector<const Load*> loads = loads_of(reduce->sources[0]);
  if (loads.size() != 2 || loads[0]->buffer == loads[1]->buffer) return std::nullopt;
  const Axis& depth = reduce->axes[0];
  const auto first = own_axis(stage, *loads[0], *loads[1]), second = own_axis(stage, *loads[1], *loads[0]);
  if (!first || !second || !uses(*loads[0], depth.var) || !uses(*loads[1], depth.var)) return std::nullopt;
  // Adjacent threads write adjacent columns.
  const std::size_t side = *first > *second ? 0 : 1;
  GpuContraction contraction;
  contraction.column = std::max(*first, *second);
  contraction.row = std::min(*first, *second);
  const Axis &row = stage.axes[contraction.row], &column = stage.axes[contraction.column];
  for (const Load* load : loads)
    if (!reads_tiles(*load, {row.var, column.var, depth.var})) return std::nullopt;
  contraction.rows = operand_of(stage, *loads[1 - side], row.var, depth.var);
  contraction.columns = operand_of(stage, *loads[side], column.var, depth.var);
  contraction.row_extent = constant_extent(row.extent);
  contraction.column_extent = constant_extent(column.extent);
  contraction.depth_extent = constant_extent(depth.extent);
  if (!is_at_least(contraction.row_extent, kLeastSide) || !is_at_least(contraction.column_extent, kLeastSide) ||
      !is_at_least(contraction.depth_extent, kLeastDepth))
    return std::nullopt;
  return contraction;
}

}  // namespace ferry::autoschedule
