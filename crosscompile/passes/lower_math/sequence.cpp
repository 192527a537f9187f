#include "crosscompile/passes/lower_math/sequence.h"

#include "crosscompile/ir/expr.h"

namespace ferry::passes::math {

using namespace ir;

Expr Sequence::let(const char* name, const Expr& value) {
  const auto* broadcast = value.as<Broadcast>();
  const Expr& inner = broadcast != nullptr ? broadcast->value : value;
  const ExprKind kind = inner.kind();
  if (kind == ExprKind::Var || kind == ExprKind::FloatImm || kind == ExprKind::IntImm) return value;
  Expr var = Var::make(name, value.type());
  lets_.emplace_back(var, value);
  return var;
}

Expr Sequence::finish(Expr result) const {
  for (auto at = lets_.rbegin(); at != lets_.rend(); ++at) result = Let::make(at->first, at->second, result);
  return result;
}

Expr Sequence::fma(const Expr& a, const Expr& b, const Expr& c) const {
  return target_.capabilities.fma ? Call::make(a.type(), MathFunction::fma, {a, b, c}) : a * b + c;
}

Expr Sequence::polynomial(const Expr& x, std::span<const double> coefficients) const {
  const Type type = x.type();
  Expr sum = constant(type, coefficients.back());
  for (std::size_t i = coefficients.size() - 1; i-- > 0;) sum = fma(sum, x, constant(type, coefficients[i]));
  return sum;
}

Expr Sequence::bits(const Expr& value) const { return Call::make(Type(DType::i32, lanes_), CallOp::bitcast, {value}); }
Expr Sequence::from_bits(const Expr& value) const {
  return Call::make(Type(DType::f32, lanes_), CallOp::bitcast, {value});
}

Expr Sequence::with_sign_of(const Expr& sign, const Expr& value) const {
  return from_bits(bits(value) | (bits(sign) & i32(std::int64_t{1} << 31)));
}

}  // namespace ferry::passes::math
