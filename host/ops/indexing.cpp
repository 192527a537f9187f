#include "ferry/ops/indexing.h"

#include "crosscompile/ir/error.h"
#include "host/ops/checks.h"

namespace ferry::ops {
namespace {

using Index = std::vector<Expr>;

void expect_dimension(std::size_t dimension, const Tensor& x, const std::string& name) {
  if (dimension < x.rank()) return;
  throw CompileError("'" + name + "': expected a dimension of '" + x.name() + "' " + shape_text(x) + ", got " +
                     std::to_string(dimension));
}

// Returns the element at an index, of which each dimension is broadcast where the tensor's size is 1, except in
// `dimension`, where the index is `along`.
Expr element(const Tensor& x, Index at, std::size_t dimension, const Expr& along) {
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (ir::is_constant(x.shape()[d], 1)) at[d] = Expr(0);
  }
  at[dimension] = along;
  return x(at);
}

// Returns an index as int64, counted from the beginning.
Expr counted(const Expr& index, const Expr& size) {
  const Expr wide = ir::cast(DType::i64, index);
  return ir::select(wide < 0, wide + size, wide);
}

Expr combined(ScatterMode mode, const Expr& x, const Expr& update, const Expr& matches,
              const std::vector<lang::ReduceAxis>& axes) {
  const ir::Type type = x.type();
  switch (mode) {
    case ScatterMode::add: return x + lang::sum(ir::select(matches, update, ir::constant(type, std::int64_t{0})), axes);
    case ScatterMode::mul:
      return x * lang::prod(ir::select(matches, update, ir::constant(type, std::int64_t{1})), axes);
    case ScatterMode::minimum: return ir::min(x, lang::min_over(ir::select(matches, update, x), axes));
    case ScatterMode::maximum: return ir::max(x, lang::max_over(ir::select(matches, update, x), axes));
    case ScatterMode::replace: break;
  }
  throw InternalError("combined: expected a mode that combines elements");
}

}  // namespace

Tensor gather_elements(const Tensor& x, const Tensor& indices, std::size_t dimension, std::string name) {
  expect_dimension(dimension, x, name);
  expect_rank(indices, x.rank(), name);
  std::vector<Expr> shape = indices.shape();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const Expr& size = x.shape()[d];
    if (d == dimension || ir::is_constant(size, 1)) continue;
    if (ir::is_constant(shape[d], 1)) shape[d] = size;
    expect_same(shape[d], size, "the sizes of '" + x.name() + "' and '" + indices.name() + "'", name);
  }
  return lang::compute(
      std::move(shape),
      [&](const Index& i) {
        const Expr index = element(indices, i, dimension, i[dimension]);
        return element(x, i, dimension, counted(index, x.shape()[dimension]));
      },
      std::move(name));
}

Tensor scatter(const Tensor& x, const Tensor& indices, const Tensor& updates, std::size_t dimension, ScatterMode mode,
               std::string name) {
  expect_dimension(dimension, x, name);
  expect_rank(indices, x.rank(), name);
  expect_rank(updates, x.rank(), name);
  expect_same(indices.shape()[dimension], updates.shape()[dimension],
              "the number of '" + indices.name() + "' and '" + updates.name() + "'", name);
  const lang::ReduceAxis k = lang::reduce_axis(updates.shape()[dimension], "k");
  const auto matches = [&](const Index& i) {
    return counted(element(indices, i, dimension, k), x.shape()[dimension]) == i[dimension];
  };
  if (mode != ScatterMode::replace) {
    return lang::compute(
        x.shape(),
        [&](const Index& i) { return combined(mode, x(i), element(updates, i, dimension, k), matches(i), {k}); },
        std::move(name));
  }
  const Tensor last = lang::compute(
      x.shape(), [&](const Index& i) { return lang::max_over(ir::select(matches(i), Expr(k), Expr(-1)), {k}); },
      name + ".last");
  return lang::compute(
      x.shape(),
      [&](const Index& i) { return ir::if_then_else(last(i) >= 0, element(updates, i, dimension, last(i)), x(i)); },
      std::move(name));
}

Tensor sort_rank(const Tensor& x, std::size_t dimension, bool descending, std::string name) {
  expect_dimension(dimension, x, name);
  const lang::ReduceAxis k = lang::reduce_axis(x.shape()[dimension], "k");
  const bool is_float = ir::Type(x.dtype()).is_float();
  return lang::compute(
      x.shape(),
      [&](const Index& i) {
        Index at = i;
        at[dimension] = k;
        const Expr here = x(i), other = x(at), is_before = Expr(k) < i[dimension];
        Expr precedes = descending ? other > here : other < here, is_equal = other == here;
        if (is_float) {
          const Expr here_is_nan = here != here, other_is_nan = other != other;
          const Expr nan_precedes =
              descending ? other_is_nan && ir::logical_not(here_is_nan) : here_is_nan && ir::logical_not(other_is_nan);
          precedes = precedes || nan_precedes;
          is_equal = is_equal || (here_is_nan && other_is_nan);
        }
        return lang::sum(ir::select(precedes || (is_equal && is_before), Expr(1), Expr(0)), {k});
      },
      std::move(name));
}

}  // namespace ferry::ops
