// The sum of many floats, with a bound on how far a correct kernel's result may be from it.
#pragma once

#include "host/lang/reference/reference.h"

#include <cmath>

namespace ferry::lang {

// Up to so many roundings of a term count as independent of those of other terms; functions may err in one direction.
inline constexpr double kIndependentRoundings = 4;
// Up to so many additions, relative to 1 / u, no term is so small beside the sum that it is lost.
inline constexpr double kMostIndependent = 1.0 / 64;

// Returns the largest number in which a kernel accumulates sums of the type: that of float32 for narrower ones.
double largest_of(DType accumulator);

// Adds without rounding, except for what float64 loses of the compensation term.
class FloatSum {
 public:
  // A kernel accumulates in `accumulator`.
  FloatSum(DType accumulator, RoundingBound bound) : accumulator_(accumulator), bound_(bound) {}

  // `error` bounds the rounding error of the term.
  void add(double term, double error);

  // Returns the sum rounded to `type`. Whatever the order of its n - 1 additions, their error is at most
  // (n - 1) u sum |terms| (S. Rump, "Error estimation of floating-point summation and dot product", 2012). Errors that
  // are independent of each other mostly cancel, and come to about u sqrt(n - 1) times the partial sums (N. Higham and
  // T. Mary, "A new approach to probabilistic rounding error analysis", 2019), which are no larger than those in the
  // given order, or than a random walk's. That holds neither for so many additions that the smallest terms no longer
  // count, nor for errors of terms that more than an operation or two has made. If a partial sum may leave the type's
  // range, the error is unbounded.
  //
  // With RoundingBound::exact it is 0 where no order of the additions rounds: if all terms are exact and multiples of a
  // power of two q, and the sum of their magnitudes is at most q / u. Infinities and NaN among the terms determine the
  // sum as well.
  Element result(DType type) const;

 private:
  double additions_error(double additions) const;
  bool is_exact() const;

  DType accumulator_;
  RoundingBound bound_;
  double sum_ = 0, rest_ = 0;
  double sizes_ = 0, errors_ = 0;
  double squares_ = 0, squared_errors_ = 0, largest_partial_ = 0;
  bool has_large_errors_ = false;
  double finite_sizes_ = 0, common_factor_ = HUGE_VAL;
  std::uint64_t terms_ = 0;
};

}  // namespace ferry::lang
