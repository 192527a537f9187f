// Tensors that are computed in order along one axis, and independently of each other along all others.
//
//     Tensor s = scan({n, m}, DType::f32, 1, [&](auto& i, auto& s) {
//       return a(i) + if_then_else(i[1] >= 1, s(i[0], i[1] - 1), 0.0f);
//     }, "S");                                                               // running sums of the rows of A
//     Tensor h = scatter(zeros, {n}, 0, Update::sum, [&](auto& u) {
//       return ScatterElement{{bins(u)}, 1.0f};
//     }, "H");                                                               // a histogram
#pragma once

#include "ferry/lang/tensor.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ferry::lang {

using ScanFunction = std::function<Expr(const std::vector<Expr>& index, const Tensor& self)>;
// `element` may read the tensor itself, as `self`, at indices that are smaller along the axis `along` by a constant.
Tensor scan(std::vector<Expr> shape, DType dtype, std::size_t along, const ScanFunction& element, std::string name);

enum class Update : std::uint8_t { set, sum, prod, min, max };

struct ScatterElement {
  std::vector<Expr> place;  // the indices of the element that is updated
  Expr value;
  // If it is given, elements are updated only where it holds; elsewhere `place` may have any value. It must not hold if
  // the tensor has no elements.
  Expr condition = {};
};
using ScatterFunction = std::function<ScatterElement(const std::vector<Expr>& update)>;
// Returns `before` with an update for each point of the shape `updates`, applied in order along the axis `along`. Every
// other axis must itself be one of the indices of the updated element. Calls fail if an index is out of bounds.
Tensor scatter(const Tensor& before, std::vector<Expr> updates, std::size_t along, Update how,
               const ScatterFunction& element, std::string name);

}  // namespace ferry::lang
