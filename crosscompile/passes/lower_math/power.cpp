#include "crosscompile/passes/lower_math/coefficients.h"
#include "crosscompile/passes/lower_math/exponential_parts.h"
#include "crosscompile/passes/lower_math/functions.h"

namespace ferry::passes::math {
namespace {

using namespace ir;

// Computes log2 in float64: its error is multiplied by the exponent, and the product may be up to 2^7.
Expr precise_log2(Sequence& s, const Expr& magnitude) {
  const Expr is_subnormal = s.let("is_subnormal", magnitude < s.f32(0x1p-126));
  const Expr normal = s.let("normal", select(is_subnormal, magnitude * s.f32(0x1p23), magnitude));
  const Expr offset = s.let("offset", s.bits(normal) - s.i32(kSqrtHalfBits));
  const Expr whole = (offset >> s.i32(23)) - select(is_subnormal, s.i32(23), s.i32(0));
  const Expr mantissa =
      s.let("mantissa", cast(DType::f64, s.from_bits((offset & s.i32(0x7fffff)) + s.i32(kSqrtHalfBits))));
  // log2(m) = log2((1 + t) / (1 - t)) for this t.
  const Expr t = s.let("t", (mantissa - s.f64(1)) / (mantissa + s.f64(1)));
  const Expr fraction = s.fma(s.polynomial(s.let("square", t * t), kPowLog2), t, cast(DType::f64, whole));
  const Expr at_ends = select(magnitude == s.f32(0), s.f32(-kInfinity), magnitude);
  const Expr is_usual = magnitude > s.f32(0) && magnitude < s.f32(kInfinity);
  return s.let("log2", select(is_usual, fraction, cast(DType::f64, at_ends)));
}

// Returns 2^x for a float64.
Expr exp2_of(Sequence& s, const Expr& x) {
  const Expr clamped = s.let("clamped", max(min(x, s.f64(129)), s.f64(-151)));
  const Expr rounder = s.f32(kRounder + 254);
  const Expr shifted = s.let("shifted", cast(DType::f32, clamped) + rounder);
  const Expr whole = s.let("whole", shifted - rounder);
  const Expr rest = s.let("rest", cast(DType::f32, clamped - cast(DType::f64, whole)));
  return scaled(s, s.fma(s.polynomial(rest, kExp2), rest, s.f32(1)), s.let("biased", s.bits(shifted)), whole);
}

// Returns whether a non-negative float32 below 2^23 is an integer.
Expr is_rounded(const Sequence& s, const Expr& value) { return (value + s.f32(0x1p23)) - s.f32(0x1p23) == value; }

}  // namespace

Expr pow(Sequence& s, const Expr& base, const Expr& exponent) {
  const Expr magnitude = s.let("magnitude", s.magnitude(base));
  const Expr log2 = precise_log2(s, magnitude);
  // 1 to the power of infinity is 1.
  const Expr product = select(magnitude == s.f32(1), s.f64(0), log2 * cast(DType::f64, exponent));
  const Expr value = s.let("value", exp2_of(s, s.let("product", product)));

  const Expr size = s.let("size", s.magnitude(exponent));
  const Expr half = s.let("half_size", size * s.f32(0.5));
  const Expr is_whole = s.let("is_whole", size >= s.f32(0x1p23) || is_rounded(s, size));
  const Expr is_even = size >= s.f32(0x1p24) || is_rounded(s, half);
  const Expr sign = select(is_whole && !is_even, s.bits(base) & s.i32(std::int64_t{1} << 31), s.i32(0));
  const Expr is_real = base >= s.f32(0) || magnitude == s.f32(kInfinity) || is_whole;
  const Expr nan = s.f32(std::numeric_limits<double>::quiet_NaN());
  const Expr is_one = base == s.f32(1) || exponent == s.f32(0);
  return select(is_one, s.f32(1), select(is_real, s.from_bits(s.bits(value) | sign), nan));
}

}  // namespace ferry::passes::math
