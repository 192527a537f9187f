// Sums of float16 and bfloat16 are added up in float32: in their own type a sum of ones ends at 2048, or at 256.
#pragma once

#include "crosscompile/ir/expr.h"

namespace ferry::lang {

// A stage's value as it is computed. A sum of a narrow type becomes one of float32, its terms' last multiplication
// included, which is exact there; the stage rounds it once, to the type of its tensor. Everything else stays.
ir::Expr with_wide_sum(const ir::Expr& value);

}  // namespace ferry::lang
