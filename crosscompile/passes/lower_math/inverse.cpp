#include "crosscompile/passes/lower_math/coefficients.h"
#include "crosscompile/passes/lower_math/functions.h"

#include <numbers>

namespace ferry::passes::math {
namespace {

using namespace ir;

constexpr double kPi = std::numbers::pi;

// Returns a multiple of pi/2 minus a value, high - (value - low), with the constant in twice the precision.
Expr minus_from(const Sequence& s, double number, const Expr& value) {
  const double high = static_cast<double>(static_cast<float>(number));
  return s.f32(high) - (value - s.f32(number - high));
}

// asin(|x|) for |x| <= 1/2, and otherwise asin(sqrt((1 - |x|) / 2)), which is half of acos(|x|).
struct HalfAngle {
  Expr is_large;
  Expr value;
};

HalfAngle half_angle(Sequence& s, const Expr& x) {
  const Expr magnitude = s.let("magnitude", s.magnitude(x));
  const Expr is_large = s.let("is_large", magnitude > s.f32(0.5));
  const Expr half = s.let("half", s.fma(magnitude, s.f32(-0.5), s.f32(0.5)));
  const Expr square = s.let("square", select(is_large, half, magnitude * magnitude));
  const Expr root = s.let("root", select(is_large, s.square_root(half), magnitude));
  return {is_large, s.let("angle", s.fma(s.polynomial(square, kAsin), square * root, root))};
}

// Returns atan(t) for t from 0 to 1.
Expr atan_of_ratio(Sequence& s, const Expr& t) {
  const Expr square = s.let("square", t * t);
  return s.let("atan", s.fma(s.polynomial(square, kAtan), square * t, t));
}

}  // namespace

Expr asin(Sequence& s, const Expr& x) {
  const HalfAngle half = half_angle(s, x);
  return s.with_sign_of(x, select(half.is_large, minus_from(s, kPi / 2, half.value + half.value), half.value));
}

Expr acos(Sequence& s, const Expr& x) {
  const HalfAngle half = half_angle(s, x);
  const Expr twice = s.let("twice", half.value + half.value);
  const Expr large = select(x < s.f32(0), minus_from(s, kPi, twice), twice);
  // Here the sign must be applied before the subtraction.
  const Expr small = minus_from(s, kPi / 2, s.with_sign_of(x, half.value));
  return select(half.is_large, large, small);
}

Expr atan(Sequence& s, const Expr& x) {
  const Expr magnitude = s.let("magnitude", s.magnitude(x));
  const Expr is_large = s.let("is_large", magnitude > s.f32(1));
  const Expr angle = atan_of_ratio(s, s.let("ratio", select(is_large, s.f32(1) / magnitude, magnitude)));
  return s.with_sign_of(x, select(is_large, minus_from(s, kPi / 2, angle), angle));
}

Expr atan2(Sequence& s, const Expr& y, const Expr& x) {
  const Expr up = s.let("up", s.magnitude(y));
  const Expr along = s.let("along", s.magnitude(x));
  const Expr is_steep = s.let("is_steep", up > along);
  const Expr smaller = s.let("smaller", select(is_steep, along, up));
  const Expr larger = s.let("larger", select(is_steep, up, along));
  // 0 / 0 is replaced by 0, and infinity / infinity by 1.
  const Expr quotient = select(larger == s.f32(0), smaller, select(smaller == larger, s.f32(1), smaller / larger));
  const Expr slope = atan_of_ratio(s, s.let("ratio", quotient));
  const Expr right = s.let("right", select(is_steep, minus_from(s, kPi / 2, slope), slope));
  // Tests the sign bit, which negative zero has too.
  const Expr is_left = s.bits(x) < s.i32(0);
  return s.with_sign_of(y, select(is_left, minus_from(s, kPi, right), right));
}

}  // namespace ferry::passes::math
