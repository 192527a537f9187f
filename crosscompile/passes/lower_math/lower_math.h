// Expands the math functions of float32 into arithmetic, for vectors and scalars alike: a vector loop makes no calls,
// and a loop's tail computes the same bits as its vectors. Where a target has no instructions for rounding to integers,
// floor, ceil, round, round_even and trunc are expanded too.
//
// The remaining calls are those of fmod and of the functions of float64, which go to the C library lane by lane, and of
// functions that are instructions. Where Target::is_source, all calls remain.
//
// Requires explicit vectors and narrow floats that compute in float32. Runs after vectorize and legalize_floats, so
// that neither has to handle the expansions, and before the last simplify.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/target/target.h"

namespace ferry::passes {

ir::Function lower_math(ir::Function function, const Target& target);

// Whether the pass makes arithmetic of the call on this target. Narrow floats are computed in float32.
bool is_expanded(const ir::Call& call, const Target& target);

}  // namespace ferry::passes
