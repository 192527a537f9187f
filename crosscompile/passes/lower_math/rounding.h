// Implements floor, ceil, round, round_even and trunc by additions, for targets where they would be library calls.
#pragma once

#include "crosscompile/passes/lower_math/sequence.h"

namespace ferry::passes::math {

// Computes floor, ceil, round, round_even or trunc of a float32 or float64.
ir::Expr round_to_whole(Sequence& s, ir::MathFunction function, const ir::Expr& x);

}  // namespace ferry::passes::math
