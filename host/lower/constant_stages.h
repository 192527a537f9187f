// What is computed of constant parameters alone stays the same from call to call: stages of their own that only read
// those (packed copies of weights, say) become a function of their own, which runs once for each set of constants.
//
//     def mm(float(M,K) A, const float(K,N) B) -> (C)        with B.global, a packed copy of B, at the root:
//
//     mm:prepare(in B, out B.global)    mm(in A, in B, out C, in B.global)
#pragma once

#include "crosscompile/ir/function.h"

#include <vector>

namespace ferry::lower {

// The function, and the one that prepares for it, if any of its root's stages are such.
std::vector<ir::Function> split_constants(ir::Function function);

}  // namespace ferry::lower
