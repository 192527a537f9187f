#include "ferry/ops/matmul.h"

#include "ferry/ops/elementwise.h"
#include "host/ops/checks.h"

namespace ferry::ops {
namespace {

// Both tensors have `lead` batch dimensions before those of the matrices.
Tensor product(const Tensor& a, const Tensor& b, std::string name, Transposed transposed, std::size_t lead) {
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
  return lang::compute(
      std::move(shape),
      [&](const std::vector<Expr>& i) {
        const auto element = [&](const Tensor& t, bool swapped, const Expr& row, const Expr& column) {
          std::vector<Expr> at(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(lead));
          at.push_back(swapped ? column : row);
          at.push_back(swapped ? row : column);
          return t(at);
        };
        return lang::sum(element(a, transposed.a, i[lead], k) * element(b, transposed.b, k, i[lead + 1]), {k});
      },
      std::move(name));
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, std::string name, Transposed transposed) {
  return product(a, b, std::move(name), transposed, 0);
}

Tensor batch_matmul(const Tensor& a, const Tensor& b, std::string name, Transposed transposed) {
  return product(a, b, std::move(name), transposed, 1);
}

Tensor dense(const Tensor& x, const Tensor& weights, const Tensor& bias, std::string name) {
  if (bias.buffer() == nullptr) return matmul(x, weights, std::move(name), {.a = false, .b = true});
  expect_rank(bias, 1, name);
  const Tensor total = matmul(x, weights, name + ".product", {.a = false, .b = true});
  return add(total, bias, std::move(name));
}

}  // namespace ferry::ops
