#include "host/schedule/contraction.h"

#include "crosscompile/ir/substitute.h"
#include "host/schedule/default_loops.h"
#include "host/schedule/stages/access.h"

#include <algorithm>

namespace ferry::schedule {

using namespace ir;

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

double used_share(std::int64_t extent, std::int64_t lanes) {
  return static_cast<double>(extent) / static_cast<double>((extent + lanes - 1) / lanes * lanes);
}

// Returns the product with these columns, or nothing.
std::optional<Product> with_columns(const ScheduledStage& stage, const Load* rows, const Load* columns,
                                    std::size_t column) {
  const std::vector<Axis>& axes = stage.axes;
  Product product;
  product.row_load = rows;
  product.column_load = columns;
  product.column = column;
  product.columns = constant_extent(axes[column].extent);
  product.row = axes.size();
  product.column_dimension = dimension_of(*columns, axes[column].var);
  if (depends(*rows, axes[column].var) || product.column_dimension == columns->indices.size()) return std::nullopt;
  bool any = false;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (a == column || depends(*columns, axes[a].var)) continue;
    product.rows *= constant_extent(axes[a].extent);
    if (is_constant(axes[a].extent, 1) && any) continue;
    if (!depends(*rows, axes[a].var)) return std::nullopt;
    product.row = a;
    any = true;
  }
  if (any) product.row_dimension = dimension_of(*rows, axes[product.row].var);
  for (const Axis& axis : stage.reduction()->axes) product.depth *= constant_extent(axis.extent);
  product.row_bytes = constant_bytes(*rows->buffer);
  product.column_bytes = constant_bytes(*columns->buffer);
  product.is_column_contiguous = step_of(*columns, axes[column].var) == Step::contiguous;
  for (const std::int64_t size :
       {product.rows, product.columns, product.depth, product.row_bytes, product.column_bytes})
    if (size == 0) return std::nullopt;
  return product;
}

}  // namespace

std::optional<Product> find_product(const ScheduledStage& stage, std::int64_t lanes, const Constants& constants) {
  const Reduce* reduce = stage.reduction();
  if (reduce == nullptr || reduce->sources.size() != 1 || reduce->reducer->op != ReduceOp::sum ||
      reduce->condition.defined())
    return std::nullopt;
  const std::vector<const Load*> loads = loads_of(reduce->sources[0]);
  if (loads.size() != 2 || loads[0]->buffer == loads[1]->buffer) return std::nullopt;
  std::optional<Product> best;
  double best_score = 0;
  for (std::size_t column = 0; column < stage.axes.size(); ++column) {
    for (std::size_t side = 0; side < 2; ++side) {
      auto product = with_columns(stage, loads[side], loads[1 - side], column);
      if (!product) continue;
      product->is_column_constant = constants.contains(loads[1 - side]->buffer->name);
      double score = used_share(product->columns, lanes);
      if (product->is_column_contiguous || product->is_column_constant) score *= 1.2;
      if (column + 1 == stage.axes.size()) score *= 1.1;
      if (best && score <= best_score) continue;
      best = product;
      best_score = score;
    }
  }
  return best;
}

std::int64_t stride_bytes(const Buffer& tensor, std::size_t dimension) {
  std::int64_t bytes = static_cast<std::int64_t>(dtype_bytes(tensor.dtype));
  if (!tensor.strides.empty()) return bytes * constant_extent(tensor.strides[dimension]);
  for (std::size_t d = dimension + 1; d < tensor.shape.size(); ++d) bytes *= constant_extent(tensor.shape[d]);
  return bytes;
}

}  // namespace ferry::schedule
