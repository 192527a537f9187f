#include "host/ops/winograd_transforms.h"

namespace ferry::ops {

using lang::Expr;

std::vector<Expr> transform_weights(std::int64_t tile, const Elements& w) {
  const Expr even = w(0) + w(2);
  if (tile == 2) return {w(0), (even + w(1)) * 0.5, (even - w(1)) * 0.5, w(2)};
  return {w(0),
          (even + w(1)) * (1.0 / 3),
          (even - w(1)) * (-1.0 / 3),
          (w(0) + w(1) * 0.5 + w(2) * 0.25) * (-16.0 / 15),
          (w(0) - w(1) * 2.0 + w(2) * 4.0) * (1.0 / 15),
          w(2)};
}

std::vector<Expr> transform_input(std::int64_t tile, const Elements& d) {
  if (tile == 2) return {d(0) - d(2), d(1) + d(2), d(2) - d(1), d(3) - d(1)};
  const Expr even = d(4) - d(2), odd = d(3) - d(1);
  return {d(0) - d(2) + even + odd * 1.5,
          d(4) - d(1) + d(3) * 2.5 + d(2) * 0.5,
          d(4) + d(1) + d(3) * 0.5 - d(2) * 2.5,
          even + odd * 2.0,
          even - odd * 0.5,
          d(5) - d(3) - odd + even * 1.5};
}

std::vector<Expr> transform_products(std::int64_t tile, const Elements& p) {
  const Expr even = p(1) + p(2), odd = p(1) - p(2);
  if (tile == 2) return {p(0) + even, odd + p(3)};
  return {p(0) + even + p(3) + p(4), odd + p(3) * 0.5 - p(4) * 2.0, even + p(3) * 0.25 + p(4) * 4.0,
          odd + p(3) * 0.125 - p(4) * 8.0 + p(5)};
}

}  // namespace ferry::ops
