// The definitions of the elementwise operators.
#include "ferry/ops/elementwise.h"

#include "crosscompile/ir/error.h"
#include "ferry/lang/math.h"
#include "host/graph/kernels/families.h"

namespace ferry::graph {
namespace {

using lang::Expr;

Expr zero_of(const Expr& x) { return ir::constant(x.type(), std::int64_t{0}); }

// lang::round() rounds halves away from zero.
Expr round_to_even(const Expr& x) {
  const Expr is_half = lang::abs(x - lang::trunc(x)) == ir::constant(x.type(), 0.5);
  return ir::select(is_half, lang::round(x / 2) * 2, lang::round(x));
}

// The language's division of integers rounds down.
Expr divide(const Expr& x, const Expr& y) {
  if (!x.type().is_signed_int()) return x / y;
  const Expr zero = zero_of(x), is_inexact = x % y != zero, is_negative = (x < zero) != (y < zero);
  return ir::select(is_inexact && is_negative, x / y + 1, x / y);
}

Expr value_of(Unary function, const Expr& x) {
  switch (function) {
    case Unary::relu: return ir::max(x, zero_of(x));
    case Unary::abs: return lang::abs(x);
    case Unary::neg: return -x;
    case Unary::exp: return lang::exp(x);
    case Unary::log: return lang::log(x);
    case Unary::sqrt: return lang::sqrt(x);
    case Unary::erf: return lang::erf(x);
    case Unary::tanh: return lang::tanh(x);
    case Unary::sigmoid: return lang::sigmoid(x);
    case Unary::sin: return lang::sin(x);
    case Unary::cos: return lang::cos(x);
    case Unary::floor: return lang::floor(x);
    case Unary::ceil: return lang::ceil(x);
    case Unary::round: return round_to_even(x);
    case Unary::logical_not: return ir::logical_not(x);
  }
  throw InternalError("value_of: unknown function");
}

Expr value_of(Binary function, const Expr& x, const Expr& y) {
  switch (function) {
    case Binary::add: return x + y;
    case Binary::sub: return x - y;
    case Binary::mul: return x * y;
    case Binary::div: return divide(x, y);
    case Binary::pow: return lang::pow(x, y);
    case Binary::minimum: return ir::min(x, y);
    case Binary::maximum: return ir::max(x, y);
    case Binary::equal: return x == y;
    case Binary::less: return x < y;
    case Binary::less_equal: return x <= y;
    case Binary::logical_and: return x && y;
    case Binary::logical_or: return x || y;
  }
  throw InternalError("value_of: unknown function");
}

}  // namespace

lang::Tensor elementwise(Unary function, const Inputs& inputs, const std::string& name) {
  return ops::map(inputs[0], [&](const Expr& x) { return value_of(function, x); }, name);
}

lang::Tensor elementwise(Binary function, const Inputs& inputs, const std::string& name) {
  return ops::broadcast(
      inputs[0], inputs[1], [&](const Expr& x, const Expr& y) { return value_of(function, x, y); }, name);
}

lang::Tensor choice(const Inputs& inputs, const std::string& name) {
  const lang::Tensor values =
      lang::placeholder(ops::broadcast_shape(inputs[1], inputs[2], name), inputs[1].dtype(), "values");
  const std::vector<Expr> shape = ops::broadcast_shape(inputs[0], values, name);
  const auto element = [&](const lang::Tensor& x, const std::vector<Expr>& i) {
    std::vector<Expr> at;
    for (std::size_t d = 0; d < x.rank(); ++d)
      at.push_back(ir::is_constant(x.shape()[d], 1) ? Expr(0) : i[i.size() - x.rank() + d]);
    return x(at);
  };
  return lang::compute(
      shape,
      [&](const std::vector<Expr>& i) {
        return ir::select(element(inputs[0], i), element(inputs[1], i), element(inputs[2], i));
      },
      name);
}

}  // namespace ferry::graph
