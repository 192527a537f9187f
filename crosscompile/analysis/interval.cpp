#include "crosscompile/analysis/interval.h"

#include "crosscompile/analysis/wrapping.h"

#include <algorithm>
#include <limits>

namespace ferry::analysis {
namespace {

constexpr Int128 kLowest = std::numeric_limits<std::int64_t>::min();
constexpr Int128 kHighest = std::numeric_limits<std::int64_t>::max();

Int128 clamp(Int128 value) { return std::clamp(value, -kInfinity, kInfinity); }
bool is_infinite(Int128 value) { return value >= kInfinity || value <= -kInfinity; }

Int128 clamped_product(Int128 a, Int128 b) {
  if (a == 0 || b == 0) return 0;
  Int128 product = 0;
  if (is_infinite(a) || is_infinite(b) || __builtin_mul_overflow(a, b, &product)) {
    return (a < 0) == (b < 0) ? kInfinity : -kInfinity;
  }
  return clamp(product);
}

// The upper bound of a value with either of these bounds: a small number that is not known is below a large known one.
Int128 higher(Int128 a, Int128 b) {
  const Int128 less = std::min(a, b), more = std::max(a, b);
  return more >= kInfinity && less > kLargestFactor ? less : more;
}
Int128 lower(Int128 a, Int128 b) { return -higher(-a, -b); }

}  // namespace

Int128 floor_div(Int128 a, Int128 b) {
  if (is_infinite(a)) return a;
  const Int128 quotient = a / b;
  return a % b < 0 ? quotient - 1 : quotient;
}

Interval Interval::of(DType type) {
  if (type == DType::boolean) return {0, 1};
  const int bits = ir::Type(type).bits();
  if (is_unsigned_int(type)) return {0, (Int128{1} << bits) - 1};
  return {-(Int128{1} << (bits - 1)), (Int128{1} << (bits - 1)) - 1};
}

bool Interval::fits_64_bits() const { return lo >= kLowest && hi <= kHighest; }

Interval operator+(Interval a, Interval b) {
  return {a.bounded_below() && b.bounded_below() ? clamp(a.lo + b.lo) : -kInfinity,
          a.bounded_above() && b.bounded_above() ? clamp(a.hi + b.hi) : kInfinity};
}

Interval operator*(Interval a, Interval b) {
  const Int128 corners[] = {clamped_product(a.lo, b.lo), clamped_product(a.lo, b.hi), clamped_product(a.hi, b.lo),
                            clamped_product(a.hi, b.hi)};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

Interval scaled(Interval a, std::int64_t factor) { return a * Interval::point(factor); }

Interval intersection(Interval a, Interval b) { return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)}; }
Interval hull(Interval a, Interval b) { return {lower(a.lo, b.lo), higher(a.hi, b.hi)}; }

Interval floor_div(Interval a, Interval b) {
  if (b.lo > 0) {
    // Bounds come from the smallest and the largest divisor; as the divisor grows, the quotient tends to 0 or, floored,
    // to -1.
    const auto quotient = [](Int128 x, Int128 y) {
      return is_infinite(y) ? (x < 0 ? Int128{-1} : Int128{0}) : floor_div(x, y);
    };
    return {std::min(quotient(a.lo, b.lo), quotient(a.lo, b.hi)), std::max(quotient(a.hi, b.lo), quotient(a.hi, b.hi))};
  }
  if (b.lo >= 0) return hull(Interval::point(0), a);  // a quotient is never further from zero than the dividend
  // The range also covers the smallest value divided by -1, which wraps to itself.
  const Int128 far = std::max(a.magnitude(), std::max(-a.lo, a.hi));
  return {clamp(-far), clamp(far)};
}

Interval floor_mod(Interval a, Interval b) {
  if (b.lo >= 0) {
    Interval result{0, std::max<Int128>(0, is_infinite(b.hi) ? kInfinity : b.hi - 1)};
    if (a.lo >= 0) result.hi = std::min(result.hi, a.hi);
    return result;
  }
  return {std::min<Int128>(0, is_infinite(b.lo) ? b.lo : b.lo + 1),
          std::max<Int128>(0, is_infinite(b.hi) ? b.hi : b.hi - 1)};
}

Interval min_of(Interval a, Interval b) { return {lower(a.lo, b.lo), std::min(a.hi, b.hi)}; }
Interval max_of(Interval a, Interval b) { return {std::max(a.lo, b.lo), higher(a.hi, b.hi)}; }

}  // namespace ferry::analysis
