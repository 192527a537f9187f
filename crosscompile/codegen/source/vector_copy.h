// Accesses several elements at once where a GPU's language has a type for them, which moves 8 or 16 bytes in one
// instruction. The accesses must be aligned, which is proved here.
#pragma once

#include "crosscompile/codegen/source/state.h"

namespace ferry::codegen::source {

// Prints a vectorized loop that only stores consecutive elements. Returns false, and prints nothing, for any other
// loop.
//
//   shared[8 * t + i] = global[8 * k + i]
//     -> *(__local float4*)&shared[8 * t] = *(const __global float4*)&global[8 * k];
//   global[4 * t + i] = acc[i] * 2
//     -> *(float4*)&global[4 * t] = make_float4(acc[0] * 2, ...);
//   acc[i] = global[4 * t + i]
//     -> const float4 acc_lanes = ...; acc[0] = acc_lanes.x; ...
bool print_vector_copy(FunctionState& state, const ir::For& node);

}  // namespace ferry::codegen::source
