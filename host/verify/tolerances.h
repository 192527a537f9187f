// By how much results of each type may differ, unless somebody says otherwise (docs/measuring.md).
#pragma once

#include "ferry/types.h"

namespace ferry::verify {

// Allowed differences of floats, as a share of the value; all 0 for integers, which must be equal.
struct Tolerances {
  // A result from its definition: relative and absolute, beside what rounding its terms explains.
  double definition_rtol = 0, definition_atol = 0;
  // The results of two kernels from each other, neither of which is known to be right.
  double kernels_rtol = 0;
};

Tolerances default_tolerances(DType dtype);

}  // namespace ferry::verify
