// Implements floor, ceil, round and trunc by additions, for targets where they would be library calls.
#pragma once

#include "crosscompile/passes/lower_math/sequence.h"

#include <string_view>

namespace ferry::passes::math {

// Returns whether the target has instructions that round floats to integers, for vectors too.
bool has_rounding(const Target& target);

// Computes the function of that name for a float32 or float64.
ir::Expr round_to_whole(Sequence& s, std::string_view name, const ir::Expr& x);

}  // namespace ferry::passes::math
