// Sums of float16 and bfloat16 are accumulated in float32: in its own type a sum of ones saturates at 2048 or at 256.
#pragma once

#include "crosscompile/ir/expr.h"

namespace ferry::lang {

// Returns a stage's value as it is computed. A sum of a narrow type becomes one of float32; the last multiplication of
// each term is also done in float32, where it is exact. The stage rounds the sum once, to the type of its tensor. All
// other values are unchanged.
ir::Expr with_wide_sum(const ir::Expr& value);

}  // namespace ferry::lang
