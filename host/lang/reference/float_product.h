// The product of many floats, with a bound on how far a correct kernel's result may be from it.
#pragma once

#include "host/lang/reference/reference.h"

namespace ferry::lang {

// Multiplies in float64, which holds the partial products that overflow or vanish in narrower types.
class FloatProduct {
 public:
  // `error` bounds the rounding error of the factor.
  void multiply(double factor, double error);

  // Returns the product rounded to `type`, in which a kernel computes it. Whatever the order of its n - 1
  // multiplications, each has a relative error of at most u (N. Higham, "Accuracy and Stability of Numerical
  // Algorithms", 2002, section 3.1), and an absolute one where a partial product may be subnormal. If a partial product
  // may leave the type's range, the error is unbounded: an infinity times a later 0 is no number.
  Element result(DType type) const;

 private:
  double product_ = 1, error_ = 0;
  // Bounds of the magnitudes of partial products in any order, until one is 0.
  double largest_ = 1, smallest_ = 1;
  std::uint64_t factors_ = 0;
};

}  // namespace ferry::lang
