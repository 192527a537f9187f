#include "ferry/ops/indexing.h"

#include "crosscompile/ir/error.h"
#include "ferry/lang/sequence.h"
#include "host/lang/library.h"
#include "host/ops/checks.h"

namespace ferry::ops {
namespace {

using Index = std::vector<Expr>;

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

lang::Update update_of(ScatterMode mode) {
  switch (mode) {
    case ScatterMode::replace: return lang::Update::set;
    case ScatterMode::add: return lang::Update::sum;
    case ScatterMode::mul: return lang::Update::prod;
    case ScatterMode::minimum: return lang::Update::min;
    case ScatterMode::maximum: return lang::Update::max;
  }
  throw InternalError("update_of: unknown mode");
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
  return lang::library::compute(
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
  const Expr& size = x.shape()[dimension];
  std::vector<Expr> shape = x.shape();
  shape[dimension] = updates.shape()[dimension];
  return lang::library::scatter(
      x, std::move(shape), dimension, update_of(mode),
      [&](const Index& u) {
        const Expr index = counted(element(indices, u, dimension, u[dimension]), size);
        Index place = u;
        place[dimension] = index;
        return lang::ScatterElement{std::move(place), element(updates, u, dimension, u[dimension]),
                                    index >= 0 && index < size};
      },
      std::move(name));
}

Tensor sort_rank(const Tensor& x, std::size_t dimension, bool descending, std::string name) {
  expect_dimension(dimension, x, name);
  const lang::ReduceAxis k = lang::reduce_axis(x.shape()[dimension], "k");
  const bool is_float = ir::Type(x.dtype()).is_float();
  return lang::library::compute(
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
