// Several elements at once, where a GPU's language has a type for them: it moves 8 or 16 bytes in one instruction, but
// only where they are aligned, which is proved here.
#pragma once

#include "crosscompile/codegen/source/state.h"

namespace ferry::codegen::source {

// Prints a vectorized loop that does nothing but store consecutive elements:
//   shared[8 * t + i] = global[8 * k + i]    *(__local float4*)&shared[8 * t] = *(const __global float4*)&global[8 *
//   k]; global[4 * t + i] = acc[i] * 2           *(float4*)&global[4 * t] = make_float4(acc[0] * 2, ...); acc[i] =
//   global[4 * t + i]               const float4 acc_lanes = ...; acc[0] = acc_lanes.x; ...
// False, and nothing printed, when the loop is something else.
bool print_vector_copy(FunctionState& state, const ir::For& node);

}  // namespace ferry::codegen::source
