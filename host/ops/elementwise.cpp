#include "ferry/ops/elementwise.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/substitute.h"
#include "ferry/lang/math.h"
#include "host/lang/library.h"
#include "host/ops/checks.h"

#include <algorithm>

namespace ferry::ops {
namespace {

// Whether a tensor of `rank` has dimension `d` of a shape with `of` dimensions, both aligned at the end.
bool has_dimension(std::size_t d, std::size_t rank, std::size_t of) { return d + rank >= of; }

Expr element(const Tensor& tensor, const std::vector<Expr>& index) {
  std::vector<Expr> at;
  const std::size_t offset = index.size() - tensor.rank();
  for (std::size_t d = 0; d < tensor.rank(); ++d) {
    at.push_back(ir::is_constant(tensor.shape()[d], 1) ? Expr(0) : index[offset + d]);
  }
  return tensor(at);
}

}  // namespace

std::vector<Expr> broadcast_shape(const Tensor& a, const Tensor& b, const std::string& name) {
  const std::size_t rank = std::max(a.rank(), b.rank());
  std::vector<Expr> shape;
  for (std::size_t d = 0; d < rank; ++d) {
    const bool in_a = has_dimension(d, a.rank(), rank), in_b = has_dimension(d, b.rank(), rank);
    const Expr size_a = in_a ? a.shape()[d + a.rank() - rank] : Expr(1);
    const Expr size_b = in_b ? b.shape()[d + b.rank() - rank] : Expr(1);
    if (ir::is_constant(size_a, 1)) {
      shape.push_back(size_b);
    } else if (ir::is_constant(size_b, 1) || ir::equal(size_a, size_b)) {
      shape.push_back(size_a);
    } else {
      throw CompileError("'" + name + "': expected shapes that broadcast, got " + shape_text(a) + " and " +
                         shape_text(b));
    }
  }
  return shape;
}

Tensor broadcast(const Tensor& a, const Tensor& b, const std::function<Expr(Expr, Expr)>& operation, std::string name) {
  std::vector<Expr> shape = broadcast_shape(a, b, name);
  return lang::library::compute(
      std::move(shape), [&](const std::vector<Expr>& i) { return operation(element(a, i), element(b, i)); },
      std::move(name));
}

Tensor add(const Tensor& a, const Tensor& b, std::string name) {
  return broadcast(a, b, [](const Expr& x, const Expr& y) { return x + y; }, std::move(name));
}
Tensor sub(const Tensor& a, const Tensor& b, std::string name) {
  return broadcast(a, b, [](const Expr& x, const Expr& y) { return x - y; }, std::move(name));
}
Tensor mul(const Tensor& a, const Tensor& b, std::string name) {
  return broadcast(a, b, [](const Expr& x, const Expr& y) { return x * y; }, std::move(name));
}
Tensor div(const Tensor& a, const Tensor& b, std::string name) {
  return broadcast(a, b, [](const Expr& x, const Expr& y) { return x / y; }, std::move(name));
}
Tensor max(const Tensor& a, const Tensor& b, std::string name) {
  return broadcast(a, b, [](const Expr& x, const Expr& y) { return ir::max(x, y); }, std::move(name));
}
Tensor min(const Tensor& a, const Tensor& b, std::string name) {
  return broadcast(a, b, [](const Expr& x, const Expr& y) { return ir::min(x, y); }, std::move(name));
}
Tensor pow(const Tensor& a, const Tensor& b, std::string name) {
  return broadcast(a, b, [](const Expr& x, const Expr& y) { return ir::call_math("pow", {x, y}); }, std::move(name));
}

Tensor map(const Tensor& x, const std::function<Expr(Expr)>& operation, std::string name) {
  return lang::library::compute(
      x.shape(), [&](const std::vector<Expr>& i) { return operation(x(i)); }, std::move(name));
}

Tensor unary(const Tensor& x, const std::string& function, std::string name) {
  return map(x, [&](const Expr& value) { return ir::call_math(function, {value}); }, std::move(name));
}

Tensor relu(const Tensor& x, std::string name) {
  return map(
      x, [](const Expr& value) { return ir::max(value, ir::constant(value.type(), std::int64_t{0})); },
      std::move(name));
}
Tensor sigmoid(const Tensor& x, std::string name) { return unary(x, "sigmoid", std::move(name)); }
Tensor tanh(const Tensor& x, std::string name) { return unary(x, "tanh", std::move(name)); }
Tensor gelu(const Tensor& x, std::string name) { return map(x, lang::gelu, std::move(name)); }

Tensor cast(const Tensor& x, DType to, std::string name) {
  return map(x, [&](const Expr& value) { return ir::cast(to, value); }, std::move(name));
}

}  // namespace ferry::ops
