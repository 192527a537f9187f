// The definitions of the elementwise operators.
#include "crosscompile/ir/error.h"
#include "ferry/lang/math.h"
#include "host/graph/kernels/families.h"

namespace ferry::graph {
namespace {

using lang::Expr;

Expr zero_of(const Expr& x) { return ir::constant(x.type(), std::int64_t{0}); }

// The language's division of integers rounds down.
Expr divide(const Expr& x, const Expr& y) {
  if (!x.type().is_signed_int()) return x / y;
  const Expr zero = zero_of(x), is_inexact = x % y != zero, is_negative = (x < zero) != (y < zero);
  return ir::select(is_inexact && is_negative, x / y + 1, x / y);
}

// The language's modulo of integers has the sign of the divisor.
Expr remainder_of(const Expr& x, const Expr& y) {
  if (x.type().is_float()) return lang::fmod(x, y);
  if (!x.type().is_signed_int()) return x % y;
  const Expr zero = zero_of(x), rest = x % y, has_other_sign = rest != zero && (x < zero) != (y < zero);
  return ir::select(has_other_sign, rest - y, rest);
}

}  // namespace

std::optional<Unary> unary_of(Operator op) {
#define FERRY_IF(name, inputs, attributes) \
  if (op == Operator::name) return Unary::name;
  FERRY_GRAPH_UNARY(FERRY_IF)
#undef FERRY_IF
  return std::nullopt;
}

std::optional<Binary> binary_of(Operator op) {
#define FERRY_IF(name, inputs, attributes) \
  if (op == Operator::name) return Binary::name;
  FERRY_GRAPH_BINARY(FERRY_IF)
#undef FERRY_IF
  return std::nullopt;
}

Expr elementwise(Unary function, const Expr& x) {
  switch (function) {
    case Unary::relu: return ir::max(x, zero_of(x));
    case Unary::abs: return lang::abs(x);
    case Unary::neg: return -x;
    case Unary::exp: return lang::exp(x);
    case Unary::log: return lang::log(x);
    case Unary::sqrt: return lang::sqrt(x);
    case Unary::expm1: return lang::expm1(x);
    case Unary::log1p: return lang::log1p(x);
    case Unary::erf: return lang::erf(x);
    case Unary::tanh: return lang::tanh(x);
    case Unary::sigmoid: return lang::sigmoid(x);
    case Unary::sin: return lang::sin(x);
    case Unary::cos: return lang::cos(x);
    case Unary::tan: return lang::tan(x);
    case Unary::asin: return lang::asin(x);
    case Unary::acos: return lang::acos(x);
    case Unary::atan: return lang::atan(x);
    case Unary::sinh: return lang::sinh(x);
    case Unary::cosh: return lang::cosh(x);
    case Unary::floor: return lang::floor(x);
    case Unary::ceil: return lang::ceil(x);
    case Unary::round: return lang::round_even(x);
    case Unary::logical_not: return ir::logical_not(x);
    case Unary::bit_not: return ~x;
  }
  throw InternalError("elementwise: unknown function");
}

Expr elementwise(Binary function, const Expr& x, const Expr& y) {
  switch (function) {
    case Binary::add: return x + y;
    case Binary::sub: return x - y;
    case Binary::mul: return x * y;
    case Binary::div: return divide(x, y);
    case Binary::pow: return lang::pow(x, y);
    case Binary::modulo: return x % y;
    case Binary::remainder: return remainder_of(x, y);
    case Binary::minimum: return ir::min(x, y);
    case Binary::maximum: return ir::max(x, y);
    case Binary::equal: return x == y;
    case Binary::less: return x < y;
    case Binary::less_equal: return x <= y;
    case Binary::logical_and: return x && y;
    case Binary::logical_or: return x || y;
    case Binary::bit_and: return x & y;
    case Binary::bit_or: return x | y;
    case Binary::bit_xor: return x ^ y;
    case Binary::shift_left: return x << y;
    case Binary::shift_right: return x >> y;
  }
  throw InternalError("elementwise: unknown function");
}

Expr element_of(const lang::Tensor& tensor, const std::vector<Expr>& indices) {
  std::vector<Expr> at;
  for (std::size_t d = 0; d < tensor.rank(); ++d)
    at.push_back(ir::is_constant(tensor.shape()[d], 1) ? Expr(0) : indices[indices.size() - tensor.rank() + d]);
  return tensor(at);
}

}  // namespace ferry::graph
