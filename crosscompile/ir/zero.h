// The zero that adds nothing.
#pragma once

#include "crosscompile/ir/operators.h"

#include <cmath>

namespace ferry::ir {

// A constant 0, of floats +0: what it is added to stays as it is, unless that is -0.
inline bool is_positive_zero(const Expr& expr) {
  const auto* real = expr.as<FloatImm>();
  return real != nullptr ? real->value == 0 && !std::signbit(real->value) : is_constant(expr, 0);
}

}  // namespace ferry::ir
