// Recognises the additive identity.
#pragma once

#include "crosscompile/ir/expr.h"
#include "ferry/operators.h"

#include <cmath>

namespace ferry::ir {

// Returns whether the expression is a constant 0, for floats +0: adding it changes no value but -0.
inline bool is_positive_zero(const Expr& expr) {
  const auto* real = expr.as<FloatImm>();
  return real != nullptr ? real->value == 0 && !std::signbit(real->value) : is_constant(expr, 0);
}

}  // namespace ferry::ir
