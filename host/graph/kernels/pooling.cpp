#include "ferry/ops/pooling.h"

#include "ferry/ops/blocked.h"
#include "host/graph/kernels/families.h"
#include "host/lang/library.h"

#include <cstdint>

namespace ferry::graph {
namespace {

ops::NdPooling pooling_of(const PoolAttributes& attributes) {
  ops::NdPooling shape{.windows = {}, .ceil = attributes.ceil, .count_padding = attributes.count_padding};
  for (const WindowAttributes& window : attributes.windows)
    shape.windows.push_back({window.kernel, {window.stride, window.pad_before, window.dilation, window.pad_after}});
  return shape;
}

}  // namespace

lang::Tensor pooling(Operator op, const PoolAttributes& attributes, const Inputs& inputs, const std::string& name) {
  const ops::NdPooling shape = pooling_of(attributes);
  return op == Operator::max_pool ? ops::max_pool(inputs[0], shape, name) : ops::average_pool(inputs[0], shape, name);
}

lang::Tensor blocked_pooling(Operator op, const PoolAttributes& attributes, const Inputs& inputs,
                             const std::string& name) {
  const ops::NdPooling shape = pooling_of(attributes);
  return op == Operator::max_pool ? ops::max_pool2d_blocked(inputs[0], shape, name)
                                  : ops::average_pool2d_blocked(inputs[0], shape, name);
}

namespace {

// More numbers are not added up one after the other: the rounding errors of their sum would grow with their number.
constexpr std::int64_t kMostInSum = 1024;

// Returns sums of rows, which are added up, over their number.
lang::Tensor mean_of_rows(const lang::Tensor& x, const std::string& name) {
  using lang::library::compute;
  const std::vector<lang::Expr>& shape = x.shape();
  const lang::ReduceAxis column = lang::reduce_axis(shape[3], "w"), row = lang::reduce_axis(shape[2], "h");
  const lang::Tensor rows = compute(
      {shape[0], shape[1], shape[2], shape[4]},
      [&](const std::vector<lang::Expr>& i) { return lang::sum(x(i[0], i[1], i[2], column, i[3]), {column}); },
      name + "_rows");
  const lang::Tensor sums = compute(
      {shape[0], shape[1], lang::Expr(1), lang::Expr(1), shape[4]},
      [&](const std::vector<lang::Expr>& i) { return lang::sum(rows(i[0], i[1], row, i[4]), {row}); }, name + "_sum");
  return compute(
      sums.shape(),
      [&](const std::vector<lang::Expr>& i) {
        return sums(i[0], i[1], i[2], i[3], i[4]) / ir::cast(x.dtype(), shape[2] * shape[3]);
      },
      name);
}

}  // namespace

lang::Tensor blocked_reduction(Operator op, const lang::Tensor& x, const std::string& name) {
  const ops::NdPooling all{.windows = {{x.shape()[2], {}}, {x.shape()[3], {}}}};
  if (op == Operator::reduce_max) return ops::max_pool2d_blocked(x, all, name);
  const std::int64_t *height = ir::as_int(x.shape()[2]), *width = ir::as_int(x.shape()[3]);
  const bool is_short = height != nullptr && width != nullptr && *height <= kMostInSum && *width <= kMostInSum &&
                        *height * *width <= kMostInSum;
  return is_short ? ops::average_pool2d_blocked(x, all, name) : mean_of_rows(x, name);
}

}  // namespace ferry::graph
