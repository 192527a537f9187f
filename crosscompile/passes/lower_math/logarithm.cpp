#include "crosscompile/passes/lower_math/coefficients.h"
#include "crosscompile/passes/lower_math/functions.h"

namespace ferry::passes::math {
namespace {

using namespace ir;

// x = 2^whole * (1 + fraction), with 1 + fraction from sqrt(1/2) to sqrt(2), for normal x > 0.
struct Split {
  Expr whole;     // i32
  Expr mantissa;  // 1 + fraction
};

Split split(Sequence& s, const Expr& x) {
  const Expr offset = s.let("offset", s.bits(x) - s.i32(kSqrtHalfBits));
  const Expr mantissa = s.from_bits((offset & s.i32(0x7fffff)) + s.i32(kSqrtHalfBits));
  return {s.let("exponent", offset >> s.i32(23)), s.let("mantissa", mantissa)};
}

// Splits any positive x, subnormal ones included.
Split split_any(Sequence& s, const Expr& x) {
  const Expr is_subnormal = s.let("is_subnormal", x < s.f32(0x1p-126));
  const Split normal = split(s, select(is_subnormal, x * s.f32(0x1p23), x));
  return {normal.whole - select(is_subnormal, s.i32(23), s.i32(0)), normal.mantissa};
}

// Returns whole * ln(2) + ln(1 + fraction), within 1 ulp.
Expr combine(Sequence& s, const Expr& whole, const Expr& fraction) {
  const Expr square = s.let("square", fraction * fraction);
  const Expr tail = s.fma(fraction, s.polynomial(fraction, kLog), s.f32(-0.5));
  const Expr low = s.fma(tail, square, whole * s.f32(kLn2[1]));
  return s.fma(whole, s.f32(kLn2[0]), fraction + low);
}

// Returns the value where 0 < x < infinity, and elsewhere the limits at 0 and infinity, or NaN.
Expr within_domain(const Sequence& s, const Expr& x, const Expr& value) {
  const Expr at_zero = select(x == s.f32(0), s.f32(-kInfinity), s.f32(std::numeric_limits<double>::quiet_NaN()));
  return select(x > s.f32(0), select(x < s.f32(kInfinity), value, x), at_zero);
}

}  // namespace

Expr log(Sequence& s, const Expr& x) {
  const Split parts = split_any(s, x);
  const Expr whole = s.let("whole", cast(DType::f32, parts.whole));
  const Expr fraction = s.let("fraction", parts.mantissa - s.f32(1));
  return within_domain(s, x, combine(s, whole, fraction));
}

Expr log2(Sequence& s, const Expr& x) {
  const Split parts = split_any(s, x);
  const Expr fraction = s.let("fraction", parts.mantissa - s.f32(1));
  return within_domain(s, x, s.fma(s.polynomial(fraction, kLog2), fraction, cast(DType::f32, parts.whole)));
}

// 1 + x = 2^whole * (1 + fraction) gives fraction = x * 2^-whole + (2^-whole - 1), where only the addition rounds.
// Where x is so large that 2^-whole - 1 would round, the 1 in 1 + x does not matter.
Expr log1p(Sequence& s, const Expr& x) {
  const Expr sum = s.let("sum", x + s.f32(1));
  const Split parts = split(s, sum);
  const Expr power = s.let("power", s.from_bits(s.i32(0x3f800000) - (parts.whole << s.i32(23))));
  const Expr exact = s.fma(x, power, power - s.f32(1));
  const Expr fraction = s.let("fraction", select(parts.whole > s.i32(24), parts.mantissa - s.f32(1), exact));
  const Expr value = combine(s, s.let("whole", cast(DType::f32, parts.whole)), fraction);
  const Expr tiny = s.magnitude(x) < s.f32(0x1p-25);
  return select(tiny, x, within_domain(s, sum, value));
}

}  // namespace ferry::passes::math
