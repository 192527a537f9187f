#include "ferry/ops/matmul.h"

#include "crosscompile/ir/error.h"
#include "ferry/ops/elementwise.h"
#include "host/lang/library.h"
#include "host/ops/checks.h"
#include "host/ops/converted.h"

#include <algorithm>

namespace ferry::ops {
namespace {

// Both tensors have `lead` batch dimensions before those of the matrices.
Tensor product(const Tensor& a, const Tensor& b, std::string name, Transposed transposed, std::size_t lead,
               std::optional<DType> products = std::nullopt) {
  expect_rank(a, lead + 2, name);
  expect_rank(b, lead + 2, name);
  const auto size = [&](const Tensor& t, bool swapped, std::size_t which) {
    return t.shape()[lead + (swapped ? 1 - which : which)];
  };
  const std::string both = "'" + a.name() + "' and '" + b.name() + "'";
  for (std::size_t d = 0; d < lead; ++d) expect_same(a.shape()[d], b.shape()[d], "the batches of " + both, name);
  const Expr inner = size(a, transposed.a, 1);
  expect_same(inner, size(b, transposed.b, 0), "the inner dimensions of " + both, name);
  std::vector<Expr> shape(a.shape().begin(), a.shape().begin() + static_cast<std::ptrdiff_t>(lead));
  shape.push_back(size(a, transposed.a, 0));
  shape.push_back(size(b, transposed.b, 1));
  const lang::ReduceAxis k = lang::reduce_axis(inner, "k");
  return lang::library::compute(
      std::move(shape),
      [&](const std::vector<Expr>& i) {
        const auto element = [&](const Tensor& t, bool swapped, const Expr& row, const Expr& column) {
          std::vector<Expr> at(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(lead));
          at.push_back(swapped ? column : row);
          at.push_back(swapped ? row : column);
          return t(at);
        };
        return lang::sum(converted(element(a, transposed.a, i[lead], k), products) *
                             converted(element(b, transposed.b, k, i[lead + 1]), products),
                         {k});
      },
      std::move(name));
}

// Returns a tensor with the dimensions before those of the matrices.
Tensor batch_of(const Tensor& t) {
  std::vector<Expr> shape = t.shape();
  shape.resize(shape.size() - std::min<std::size_t>(shape.size(), 2));
  return lang::placeholder(std::move(shape), t.dtype(), t.name());
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, std::string name, Transposed transposed) {
  return product(a, b, std::move(name), transposed, 0);
}

Tensor batch_matmul(const Tensor& a, const Tensor& b, std::string name, Transposed transposed) {
  return product(a, b, std::move(name), transposed, 1);
}

Tensor broadcast_matmul(const Tensor& a, const Tensor& b, std::string name, Transposed transposed,
                        std::optional<DType> products) {
  const bool row = a.rank() == 1, column = b.rank() == 1;
  if (a.rank() == 2 && b.rank() == 2) return product(a, b, std::move(name), transposed, 0, products);
  if (a.rank() == 0 || b.rank() == 0)
    throw CompileError("'" + name + "': expected vectors, matrices or batches of them, got " + shape_text(a) + " and " +
                       shape_text(b));
  std::vector<Expr> shape = broadcast_shape(batch_of(a), batch_of(b), name);
  const std::size_t lead = shape.size();
  const auto inner_at = [](const Tensor& t, bool is_left, bool swapped) {
    return t.rank() == 1 ? 0 : t.rank() - (is_left != swapped ? 1 : 2);
  };
  const std::size_t inner_a = inner_at(a, true, transposed.a), inner_b = inner_at(b, false, transposed.b);
  expect_same(a.shape()[inner_a], b.shape()[inner_b],
              "the inner dimensions of '" + a.name() + "' and '" + b.name() + "'", name);
  const auto outer_at = [](const Tensor& t, std::size_t inner) { return t.rank() * 2 - 3 - inner; };
  if (!row) shape.push_back(a.shape()[outer_at(a, inner_a)]);
  if (!column) shape.push_back(b.shape()[outer_at(b, inner_b)]);
  const lang::ReduceAxis k = lang::reduce_axis(a.shape()[inner_a], "k");
  return lang::library::compute(
      std::move(shape),
      [&](const std::vector<Expr>& i) {
        const auto element = [&](const Tensor& t, std::size_t inner, const Expr& outer) {
          const std::size_t own = t.rank() < 2 ? 0 : t.rank() - 2;
          std::vector<Expr> at;
          for (std::size_t d = 0; d < own; ++d)
            at.push_back(ir::is_constant(t.shape()[d], 1) ? Expr(0) : i[lead - own + d]);
          at.resize(t.rank());
          at[inner] = k;
          if (t.rank() > 1) at[outer_at(t, inner)] = outer;
          return t(at);
        };
        return lang::sum(converted(element(a, inner_a, row ? Expr(0) : i[lead]), products) *
                             converted(element(b, inner_b, column ? Expr(0) : i.back()), products),
                         {k});
      },
      std::move(name));
}

Tensor dense(const Tensor& x, const Tensor& weights, const Tensor& bias, std::string name) {
  if (bias.buffer() == nullptr) return matmul(x, weights, std::move(name), {.a = false, .b = true});
  expect_rank(bias, 1, name);
  const Tensor total = matmul(x, weights, name + ".product", {.a = false, .b = true});
  return add(total, bias, std::move(name));
}

}  // namespace ferry::ops
