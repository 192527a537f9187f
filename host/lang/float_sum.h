// The sum of many floats, and how far from it one may be that a correct kernel computes.
#pragma once

#include "host/lang/reference.h"

namespace ferry::lang {

// Adds without rounding, but for what float64 loses of the rest that a float64 cannot hold.
class FloatSum {
 public:
  // `error` is how far rounding may have taken the term.
  void add(double term, double error);

  // Rounded to `type`, as a kernel does that adds up in `accumulator`. Whatever the order of its n - 1 additions, they
  // take it at most (n - 1) u sum |terms| away (S. Rump, "Error estimation of floating-point summation and dot
  // product", 2012). Where a sum of some of the terms may leave the type's range, nothing is known of it.
  Element result(DType accumulator, DType type) const;

 private:
  double sum_ = 0, rest_ = 0;
  double sizes_ = 0, errors_ = 0;
  std::uint64_t terms_ = 0;
};

}  // namespace ferry::lang
