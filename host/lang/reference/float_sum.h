// The sum of many floats, with a bound on how far a correct kernel's result may be from it.
#pragma once

#include "host/lang/reference/reference.h"

namespace ferry::lang {

// Adds without rounding, except for what float64 loses of the compensation term.
class FloatSum {
 public:
  // `error` bounds the rounding error of the term.
  void add(double term, double error);

  // Returns the sum rounded to `type`, as a kernel computes it that accumulates in `accumulator`. Whatever the order of
  // its n - 1 additions, their error is at most (n - 1) u sum |terms| (S. Rump, "Error estimation of floating-point
  // summation and dot product", 2012). If a partial sum may leave the type's range, the error is unbounded.
  Element result(DType accumulator, DType type) const;

 private:
  double sum_ = 0, rest_ = 0;
  double sizes_ = 0, errors_ = 0;
  std::uint64_t terms_ = 0;
};

}  // namespace ferry::lang
