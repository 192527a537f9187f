#include "crosscompile/passes/lower_math/coefficients.h"
#include "crosscompile/passes/lower_math/functions.h"
#include "crosscompile/passes/lower_math/range_reduction.h"

namespace ferry::passes::math {
namespace {

using namespace ir;

struct SineAndCosine {
  Expr sine, cosine;
};

// Computes both for |rest| <= pi/4, each within 1 ulp.
SineAndCosine of_rest(Sequence& s, const Expr& rest) {
  const Expr square = s.let("square", rest * rest);
  const Expr sine = s.fma(s.polynomial(square, kSin), square * rest, rest);
  const Expr cosine = s.fma(s.polynomial(square, kCos), square * square, s.fma(square, s.f32(-0.5), s.f32(1)));
  return {s.let("sine", sine), s.let("cosine", cosine)};
}

Expr is_odd(const Sequence& s, const Expr& quarters) { return (quarters & s.i32(1)) != s.i32(0); }

// Negates in quarters 2 and 3 of a turn: the second bit of `quarters` becomes the sign bit.
Expr negated_by(const Sequence& s, const Expr& quarters, const Expr& value) {
  return s.from_bits(s.bits(value) ^ ((quarters & s.i32(2)) << s.i32(30)));
}

}  // namespace

Expr sin(Sequence& s, const Expr& x) {
  const Expr of_magnitude = with_reduced(s, s.let("magnitude", s.magnitude(x)), [](Sequence& t, const Angle& angle) {
    const Expr quarters = t.let("quarters", angle.quarters);
    const SineAndCosine both = of_rest(t, angle.rest);
    return negated_by(t, quarters, select(is_odd(t, quarters), both.cosine, both.sine));
  });
  return s.from_bits(s.bits(of_magnitude) ^ (s.bits(x) & s.i32(std::int64_t{1} << 31)));
}

Expr cos(Sequence& s, const Expr& x) {
  return with_reduced(s, s.let("magnitude", s.magnitude(x)), [](Sequence& t, const Angle& angle) {
    const Expr quarters = t.let("quarters", angle.quarters + t.i32(1));
    const SineAndCosine both = of_rest(t, angle.rest);
    return negated_by(t, quarters, select(is_odd(t, quarters), both.cosine, both.sine));
  });
}

Expr tan(Sequence& s, const Expr& x) {
  const Expr of_magnitude = with_reduced(s, s.let("magnitude", s.magnitude(x)), [](Sequence& t, const Angle& angle) {
    const SineAndCosine both = of_rest(t, angle.rest);
    const Expr odd = t.let("odd", is_odd(t, angle.quarters));
    return select(odd, both.cosine, both.sine) / select(odd, -both.sine, both.cosine);
  });
  return s.from_bits(s.bits(of_magnitude) ^ (s.bits(x) & s.i32(std::int64_t{1} << 31)));
}

}  // namespace ferry::passes::math
