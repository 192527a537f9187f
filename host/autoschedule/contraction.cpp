#include "host/autoschedule/contraction.h"

#include "crosscompile/analysis/access_stride.h"
#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/tensorize/dot_instructions.h"
#include "host/autoschedule/default_loops.h"

#include <algorithm>

namespace ferry::autoschedule {

using namespace ir;
using analysis::access_stride;
using analysis::AccessStride;
using analysis::loads_of;
using schedule::ScheduledStage;

namespace {

bool depends(const Load& load, const Expr& var) {
  return std::any_of(load.indices.begin(), load.indices.end(), [&](const Expr& i) { return uses_var(i, var); });
}

// Returns the dimension whose index is the variable and on which no other index depends; the rank if there is none.
std::size_t dimension_of(const Load& load, const Expr& var) {
  std::size_t found = load.indices.size();
  for (std::size_t d = 0; d < load.indices.size(); ++d) {
    if (!uses_var(load.indices[d], var)) continue;
    if (found != load.indices.size() || !load.indices[d].same_as(var)) return load.indices.size();
    found = d;
  }
  return found;
}

// Returns the axis over blocks of columns if the column's axis has `lanes` elements.
std::optional<ColumnBlocks> find_blocks(const std::vector<Axis>& axes, const Contraction& contraction,
                                        std::int64_t lanes) {
  if (contraction.columns != lanes) return std::nullopt;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (a == contraction.column || constant_extent(axes[a].extent) < 2 || depends(*contraction.row_load, axes[a].var))
      continue;
    const std::size_t dimension = dimension_of(*contraction.column_load, axes[a].var);
    if (dimension < contraction.column_load->indices.size()) return ColumnBlocks{a, dimension};
  }
  return std::nullopt;
}

double used_share(std::int64_t extent, std::int64_t lanes) {
  return static_cast<double>(extent) / static_cast<double>((extent + lanes - 1) / lanes * lanes);
}

bool has_known_sizes(const Contraction& contraction) {
  return contraction.rows != 0 && contraction.columns != 0 && contraction.depth != 0 && contraction.row_bytes != 0 &&
         contraction.column_bytes != 0;
}

}  // namespace

std::optional<Contraction> contraction_with_columns(const ScheduledStage& stage, const Load* rows, const Load* columns,
                                                    std::size_t column) {
  const std::vector<Axis>& axes = stage.axes;
  Contraction contraction;
  contraction.row_load = rows;
  contraction.column_load = columns;
  contraction.column = column;
  contraction.columns = constant_extent(axes[column].extent);
  contraction.row = axes.size();
  contraction.column_dimension = dimension_of(*columns, axes[column].var);
  if (depends(*rows, axes[column].var) || contraction.column_dimension == columns->indices.size()) return std::nullopt;
  bool any = false;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (a == column || depends(*columns, axes[a].var)) continue;
    contraction.rows *= constant_extent(axes[a].extent);
    if (is_constant(axes[a].extent, 1) && (any || !depends(*rows, axes[a].var))) continue;
    if (!depends(*rows, axes[a].var)) return std::nullopt;
    if (any && !is_constant(axes[contraction.row].extent, 1)) contraction.outer_row = contraction.row;
    contraction.row = a;
    any = true;
  }
  if (any) contraction.row_dimension = dimension_of(*rows, axes[contraction.row].var);
  for (const Axis& axis : stage.reduction()->axes) contraction.depth *= constant_extent(axis.extent);
  contraction.row_bytes = constant_bytes(*rows->buffer);
  contraction.column_bytes = constant_bytes(*columns->buffer);
  contraction.is_column_contiguous = access_stride(*columns, axes[column].var) == AccessStride::contiguous;
  contraction.values = stage.values;
  return contraction;
}

std::optional<Contraction> find_contraction(const ScheduledStage& stage, std::int64_t lanes,
                                            const ConstantNames& constants) {
  const Reduce* reduce = stage.reduction();
  if (reduce == nullptr || reduce->sources.size() != 1 || reduce->reducer->op != ReduceOp::sum ||
      reduce->condition.defined())
    return std::nullopt;
  const std::vector<const Load*> loads = loads_of(reduce->sources[0]);
  if (loads.size() != 2 || loads[0]->buffer == loads[1]->buffer) return std::nullopt;
  std::optional<Contraction> best;
  double best_score = 0;
  for (std::size_t column = 0; column < stage.axes.size(); ++column) {
    for (std::size_t side = 0; side < 2; ++side) {
      auto contraction = contraction_with_columns(stage, loads[side], loads[1 - side], column);
      if (!contraction || !has_known_sizes(*contraction)) continue;
      contraction->is_column_constant = constants.contains(loads[1 - side]->buffer->name);
      double score = used_share(contraction->columns, lanes);
      if (contraction->is_column_contiguous || contraction->is_column_constant) score *= 1.2;
      if (column + 1 == stage.axes.size()) score *= 1.1;
      if (best && score <= best_score) continue;
      best = contraction;
      best_score = score;
    }
  }
  if (!best) return best;
  best->blocks = find_blocks(stage.axes, *best, lanes);
  if (best->blocks) best->columns *= constant_extent(stage.axes[best->blocks->axis].extent);
  return best;
}

std::optional<ProductGroup> find_group(const ScheduledStage& stage, const Contraction& contraction, std::int64_t lanes,
                                       const Target& target) {
  const Reduce& reduce = *stage.reduction();
  const Load &rows = *contraction.row_load, &columns = *contraction.column_load;
  const std::size_t axis = reduce.axes.size() - 1, last = columns.indices.size() - 1;
  const Axis& inner = reduce.axes[axis];
  const std::int64_t size = constant_extent(inner.extent);
  const bool has_lanes =
      constant_extent(stage.axes[contraction.column].extent) == lanes && contraction.column_dimension + 1 == last;
  if (!contraction.blocks && contraction.columns != lanes) return std::nullopt;
  if (size < 2 || !has_lanes || dimension_of(columns, inner.var) != last ||
      constant_extent(columns.buffer->shape[last]) != size ||
      access_stride(rows, inner.var) != AccessStride::contiguous)
    return std::nullopt;
  const auto find = [&](DType left, DType right) {
    return passes::find_dot(target, stage.values[0].type().code, left, right, static_cast<std::uint32_t>(lanes),
                            static_cast<std::uint32_t>(size));
  };
  const DType left = rows.buffer->dtype, right = columns.buffer->dtype;
  const passes::DotInstruction* instruction = find(left, right);
  if (instruction == nullptr) instruction = find(right, left);
  if (instruction == nullptr) return std::nullopt;
  const bool merges = instruction->temporaries > 0 && columns.buffer->storage.above_minimum && axis > 0 &&
                      constant_extent(reduce.axes[axis - 1].extent) % 2 == 0;
  return ProductGroup{axis, last, size, merges, instruction->temporaries};
}

std::int64_t stride_bytes(const Buffer& tensor, std::size_t dimension) {
  std::int64_t bytes = static_cast<std::int64_t>(dtype_bytes(tensor.dtype));
  if (!tensor.strides.empty()) return bytes * constant_extent(tensor.strides[dimension]);
  for (std::size_t d = dimension + 1; d < tensor.shape.size(); ++d) bytes *= constant_extent(tensor.shape[d]);
  return bytes;
}

}  // namespace ferry::autoschedule
