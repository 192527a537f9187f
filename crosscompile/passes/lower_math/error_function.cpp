#include "crosscompile/passes/lower_math/coefficients.h"
#include "crosscompile/passes/lower_math/exponential_parts.h"
#include "crosscompile/passes/lower_math/functions.h"

namespace ferry::passes::math {

using namespace ir;

// Uses a polynomial near 0, and beyond it 1 - exp(polynomial), where 1 - erf is so small that its own relative error
// matters little. From 4 on the result is 1.
Expr erf(Sequence& s, const Expr& x) {
  const Expr magnitude = s.let("magnitude", s.magnitude(x));
  const Expr square = s.let("square", magnitude * magnitude);
  const Expr small = (s.polynomial(square, kErf) + s.f32(1)) * magnitude;
  const Expr exponent = s.let("exponent", s.polynomial(s.let("clamped", min(magnitude, s.f32(4))), kErfTail));
  const Reduced reduced = reduce_by_ln2(s, exponent, 127);
  const Expr large = s.f32(1) - exp_of_rest(s, reduced.rest) * power_of_two(s, reduced.biased);
  return s.with_sign_of(x, select(magnitude < s.f32(0.92), small, large));
}

}  // namespace ferry::passes::math
