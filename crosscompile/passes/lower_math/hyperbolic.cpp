#include "crosscompile/passes/lower_math/coefficients.h"
#include "crosscompile/passes/lower_math/exponential_parts.h"
#include "crosscompile/passes/lower_math/functions.h"

namespace ferry::passes::math {

using namespace ir;

// With e = expm1(2|x|), the result is e / (e + 2). From 9.1 on it is 1.
Expr tanh(Sequence& s, const Expr& x) {
  const Expr half = min(s.magnitude(x), s.f32(9.1));
  const Expr twice = s.let("twice", half * s.f32(2));
  const Reduced reduced = reduce_by_ln2(s, twice, 127);
  const Expr power = s.let("power", power_of_two(s, reduced.biased));
  const Expr e = s.let("e", s.fma(power, expm1_of_rest(s, reduced.rest), power - s.f32(1)));
  return s.with_sign_of(x, e / (e + s.f32(2)));
}

// Returns exp(|x|) / 2, infinite from 90 on.
static Expr half_exp(Sequence& s, const Expr& magnitude) {
  return s.let("half_exp", exp_scaled(s, s.let("x", min(magnitude, s.f32(90))), -1));
}

Expr sinh(Sequence& s, const Expr& x) {
  const Expr magnitude = s.let("magnitude", s.magnitude(x));
  const Expr grown = half_exp(s, magnitude);
  const Expr large = grown - s.f32(0.25) / grown;
  const Expr square = s.let("square", magnitude * magnitude);
  const Expr small = s.fma(s.polynomial(square, kSinh), square * magnitude, magnitude);
  return s.with_sign_of(x, select(magnitude < s.f32(1), small, large));
}

Expr cosh(Sequence& s, const Expr& x) {
  const Expr grown = half_exp(s, s.let("magnitude", s.magnitude(x)));
  return grown + s.f32(0.25) / grown;
}

}  // namespace ferry::passes::math
