// On a GPU: unrolls short serial loops whose variable indexes a thread's own array. Such an array can be kept in
// registers only when its indices are constants.
//
//     local f32 C_acc[4]                              local f32 C_acc[4]
//     for (x = 0; x < 4; ++x)             ->          unrolled for (x = 0; x < 4; ++x)
//       C_acc[x] += A[x] * B[x]                         C_acc[x] += A[x] * B[x]
//
// Runs after map_threads and split_vthreads and before unroll_loops; printed sources pass the unrolling on to the
// compiler that translates them.
#pragma once

#include "crosscompile/ir/function.h"

namespace ferry::passes {

ir::Function unroll_registers(ir::Function function);

}  // namespace ferry::passes
