// Loop versioning on a GPU: tests once whether a tile is full, instead of at every element. A loop of constant length,
// with everything inside, gets a copy without the guards that then always hold.
//
//     for (k = 0; k < 16; ++k)                          if (ko * 16 + 15 < K && x * 4 + 3 < N)
//       for (j = 0; j < 4; ++j)                           for (k = 0; k < 16; ++k)
//         if (ko * 16 + k < K && x * 4 + j < N)    ->       for (j = 0; j < 4; ++j)
//           C_acc[j] += A[k] * B[k, j]                        C_acc[j] += A[k] * B[k, j]
//                                                       else
//                                                         as before
//
// The other copy is unrolled only where registers require it (unroll_registers.h, which runs later).
// Loops in which threads wait for each other stay as they are, since a tile may be full for only some of the threads;
// the loops inside are processed on their own. The method of partition_loops on a CPU, splitting loops where a guard
// begins to hold, would create loops that differ from thread to thread.
//
// Runs after insert_barriers, whose barriers show where threads wait, and before unroll_registers. Requires simplified
// code with multi-dimensional indices.
#pragma once

#include "crosscompile/ir/function.h"

namespace ferry::passes {

ir::Function specialize_full_tiles(ir::Function function);

}  // namespace ferry::passes
