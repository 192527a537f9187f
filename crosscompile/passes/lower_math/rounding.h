// floor, ceil, round and trunc by additions, for targets where they would be library calls.
#pragma once

#include "crosscompile/passes/lower_math/sequence.h"

#include <string_view>

namespace ferry::passes::math {

// Whether the target rounds floats to whole numbers by instructions, vectors included.
bool has_rounding(const Target& target);

// The function of that name, of a float32 or float64.
ir::Expr round_to_whole(Sequence& s, std::string_view name, const ir::Expr& x);

}  // namespace ferry::passes::math
