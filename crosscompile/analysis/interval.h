// Ranges of integers for the simplifier. Finite bounds are exact; unknown bounds, and those too large to matter, are
// infinite. A finite range is a fact: a completely unknown 64-bit value has the range of all 64-bit values. An infinite
// bound of a 64-bit value is a number that is not known, but small by the rule of wrapping.h: a bound of two values
// together is therefore finite if one of the two may be large.
#pragma once

#include "ferry/expr.h"

#include <cstdint>

namespace ferry::analysis {

__extension__ using Int128 = __int128;

inline constexpr Int128 kInfinity = Int128{1} << 126;

struct Interval {
  Int128 lo = -kInfinity;
  Int128 hi = kInfinity;

  static Interval point(Int128 value) { return {value, value}; }
  // Returns the range of all values of an integer type or bool.
  static Interval of(DType type);
  bool bounded_below() const { return lo > -kInfinity; }
  bool bounded_above() const { return hi < kInfinity; }
  bool finite() const { return bounded_below() && bounded_above(); }
  bool is_point() const { return lo == hi; }
  bool fits_64_bits() const;
  // Returns the larger of the two bounds' magnitudes.
  Int128 magnitude() const { return lo < 0 && -lo > hi ? -lo : hi; }
};

Interval operator+(Interval a, Interval b);
Interval operator*(Interval a, Interval b);
Interval scaled(Interval a, std::int64_t factor);
Interval intersection(Interval a, Interval b);
Interval hull(Interval a, Interval b);
// Floor division and modulo; division by zero gives zero, as in ferry/expr.h.
Interval floor_div(Interval a, Interval b);
Interval floor_mod(Interval a, Interval b);
Interval min_of(Interval a, Interval b);
Interval max_of(Interval a, Interval b);

Int128 floor_div(Int128 a, Int128 b);  // b > 0

}  // namespace ferry::analysis
