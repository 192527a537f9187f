// On a GPU: short serial loops whose variable says which element of a thread's own array is meant become unrolled ones.
// Only once such an index is a constant can the array be in registers.
//
//     local f32 C_acc[4]                              local f32 C_acc[4]
//     for (x = 0; x < 4; ++x)             ->          unrolled for (x = 0; x < 4; ++x)
//       C_acc[x] += A[x] * B[x]                         C_acc[x] += A[x] * B[x]
//
// Before: map_threads, split_vthreads. Before unroll_loops; printed sources tell it to the compiler behind them.
#pragma once

#include "crosscompile/ir/function.h"

namespace ferry::passes {

ir::Function unroll_registers(ir::Function function);

}  // namespace ferry::passes
