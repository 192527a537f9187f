#include "crosscompile/passes/lower_math/coefficients.h"
#include "crosscompile/passes/lower_math/exponential_parts.h"
#include "crosscompile/passes/lower_math/functions.h"

namespace ferry::passes::math {

using namespace ir;

namespace {

// Where multiply-adds round once, one polynomial of x^2, whose argument is shifted so that its terms do not cancel,
// takes two thirds of the time of split_erf(). Its result may exceed 1 by its error, and from kErfLimit on it must be
// exactly 1, since 1 + erf(x) is multiplied by large x.
Expr fused_erf(Sequence& s, const Expr& x) {
  const Expr magnitude = s.let("magnitude", s.magnitude(x));
  const Expr shifted = s.let("shifted", s.fma(magnitude * magnitude, s.f32(kErfScale), s.f32(-1)));
  const Expr fitted = min(s.polynomial(shifted, kErfFused) * magnitude, s.f32(1));
  return s.with_sign_of(x, select(magnitude >= s.f32(kErfLimit), s.f32(1), fitted));
}

// Uses a polynomial near 0, and beyond it 1 - exp(polynomial), where 1 - erf is so small that its own relative error
// matters little. From 4 on the result is 1.
Expr split_erf(Sequence& s, const Expr& x) {
  const Expr magnitude = s.let("magnitude", s.magnitude(x));
  const Expr square = s.let("square", magnitude * magnitude);
  const Expr small = (s.polynomial(square, kErf) + s.f32(1)) * magnitude;
  const Expr exponent = s.let("exponent", s.polynomial(s.let("clamped", min(magnitude, s.f32(4))), kErfTail));
  const Reduced reduced = reduce_by_ln2(s, exponent, 127);
  const Expr large = s.f32(1) - exp_of_rest(s, reduced.rest) * power_of_two(s, reduced.biased);
  return s.with_sign_of(x, select(magnitude < s.f32(0.92), small, large));
}

}  // namespace

Expr erf(Sequence& s, const Expr& x) { return s.target().capabilities.fma ? fused_erf(s, x) : split_erf(s, x); }

}  // namespace ferry::passes::math
