// Expands the math functions of float32 into arithmetic of our own, for vectors and scalars alike: a vector loop makes
// no calls, and a loop's tail computes bit for bit what its vectors do. Where a target has no instructions for rounding
// to whole numbers, floor, ceil, round and trunc are expanded too.
//
// What is left are calls of fmod and of the functions of float64, which go to the C library lane by lane, and of those
// that are instructions. Where Target::is_source all calls are left.
//
// Before: vectors are explicit, narrow floats compute in float32. Stands after vectorize and legalize_floats, so that
// neither has to look through the expansions, and before the last simplify.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"

namespace ferry::passes {

ir::Function lower_math(ir::Function function, const Target& target);

}  // namespace ferry::passes
