#include "crosscompile/ir/expr.h"
#include "crosscompile/passes/lower_math/coefficients.h"
#include "crosscompile/passes/lower_math/exponential_parts.h"
#include "crosscompile/passes/lower_math/functions.h"

#include <numbers>

namespace ferry::passes::math {

using namespace ir;

Reduced reduce_by_ln2(Sequence& s, const Expr& x, int bias) {
  const Expr rounder = s.f32(kRounder + bias);
  const Expr shifted = s.let("shifted", s.fma(x, s.f32(std::numbers::log2e), rounder));
  const Expr whole = s.let("whole", shifted - rounder);
  // The first part of ln(2) has so few bits that the product is exact.
  const Expr high = s.fma(whole, s.f32(-kLn2[0]), x);
  return {s.let("biased", s.bits(shifted)), whole, s.let("rest", s.fma(whole, s.f32(-kLn2[1]), high))};
}

Expr exp_of_rest(const Sequence& s, const Expr& rest) {
  const Expr one = s.f32(1);
  return s.fma(s.fma(s.polynomial(rest, kExp), rest, one), rest, one);
}

Expr expm1_of_rest(Sequence& s, const Expr& rest) {
  return s.let("expm1_rest", s.fma(s.polynomial(rest, kExp), rest * rest, rest));
}

Expr power_of_two(const Sequence& s, const Expr& biased) { return s.from_bits(biased << s.i32(23)); }

// Multiplies in two steps, so that only the last multiplication can leave the range of normal numbers.
Expr scaled(Sequence& s, const Expr& value, const Expr& biased, const Expr& whole) {
  if (s.target().capabilities.scale) return Call::make(value.type(), CallOp::scale, {value, whole});
  const Expr half = s.let("half", biased >> s.i32(1));
  return value * power_of_two(s, half) * power_of_two(s, biased - half);
}

Expr exp_scaled(Sequence& s, const Expr& x, int exponent) {
  const Reduced reduced = reduce_by_ln2(s, x, 254 + exponent);
  const Expr whole = exponent == 0 ? reduced.whole : reduced.whole + s.f32(exponent);
  return scaled(s, exp_of_rest(s, reduced.rest), reduced.biased, whole);
}

// At the limits and beyond them, the result is infinity or rounds to 0.
Expr exp(Sequence& s, const Expr& x) { return exp_scaled(s, s.let("x", max(min(x, s.f32(89)), s.f32(-104))), 0); }

Expr exp2(Sequence& s, const Expr& x) {
  const Expr clamped = s.let("x", max(min(x, s.f32(129)), s.f32(-151)));
  const Expr rounder = s.f32(kRounder + 254);
  const Expr shifted = s.let("shifted", clamped + rounder);
  const Expr whole = s.let("whole", shifted - rounder);
  const Expr rest = s.let("rest", clamped - whole);
  const Expr value = s.fma(s.polynomial(rest, kExp2), rest, s.f32(1));
  return scaled(s, value, s.let("biased", s.bits(shifted)), whole);
}

// With p = 2^whole the result is p * expm1(rest) + (p - 1), computed at half its size because p may be 2^128. From -26
// down it is -1. Near 0 it is x itself, half of which may be subnormal, which the vectors of 32-bit ARM flush to 0.
Expr expm1(Sequence& s, const Expr& x) {
  const Expr clamped = s.let("x", max(min(x, s.f32(89)), s.f32(-26)));
  const Reduced reduced = reduce_by_ln2(s, clamped, 126);
  const Expr half_power = s.let("half_power", power_of_two(s, reduced.biased));
  const Expr half_value = s.fma(half_power, expm1_of_rest(s, reduced.rest), half_power - s.f32(0.5));
  return select(s.magnitude(x) < s.f32(0x1p-25), x, s.with_sign_of(x, half_value + half_value));
}

// With e = exp(-|x|), which cannot overflow, the result is 1 / (1 + e), or e / (1 + e) for negative x.
Expr sigmoid(Sequence& s, const Expr& x) {
  const Expr e = s.let("e", exp_scaled(s, s.let("x", max(-s.magnitude(x), s.f32(-104))), 0));
  return select(x >= s.f32(0), s.f32(1), e) / (s.f32(1) + e);
}

}  // namespace ferry::passes::math
