#include "ferry/ops/scans.h"

#include "ferry/lang/sequence.h"
#include "host/lang/library.h"
#include "host/ops/checks.h"

#include <utility>

namespace ferry::ops {
namespace {

using Index = std::vector<Expr>;

Tensor cumulative(const Tensor& x, std::size_t dimension, bool exclusive, bool backwards, bool is_sum,
                  std::string name) {
  expect_dimension(dimension, x, name);
  const Expr size = x.shape()[dimension];
  const auto mirrored = [&](Index i) {
    if (backwards) i[dimension] = size - 1 - i[dimension];
    return i;
  };
  const DType type = ir::Type(x.dtype()).is_narrow_float() ? DType::f32 : x.dtype();
  const auto earlier = [&](Index i) {
    i[dimension] = i[dimension] - 1;
    return i;
  };
  const Expr identity = ir::constant(ir::Type(type), std::int64_t{is_sum ? 0 : 1});
  const bool is_result = !backwards && type == x.dtype();
  const Tensor steps = lang::library::scan(
      x.shape(), type, dimension,
      [&](const Index& i, const Tensor& self) {
        const Expr value = ir::cast(type, x(mirrored(exclusive ? earlier(i) : i)));
        const Expr before = self(earlier(i));
        const Expr next = is_sum ? before + value : before * value;
        return ir::if_then_else(i[dimension] >= 1, next, exclusive ? identity : value);
      },
      is_result ? name : name + ".steps");
  if (is_result) return steps;
  return lang::library::compute(
      x.shape(), [&](const Index& i) { return ir::cast(x.dtype(), steps(mirrored(i))); }, std::move(name));
}

}  // namespace

Tensor cumulative_sum(const Tensor& x, std::size_t dimension, bool exclusive, bool backwards, std::string name) {
  return cumulative(x, dimension, exclusive, backwards, true, std::move(name));
}

Tensor cumulative_prod(const Tensor& x, std::size_t dimension, bool exclusive, bool backwards, std::string name) {
  return cumulative(x, dimension, exclusive, backwards, false, std::move(name));
}

}  // namespace ferry::ops
