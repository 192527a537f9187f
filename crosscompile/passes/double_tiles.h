// On a GPU: tests once whether a tile is whole, instead of at every element. A loop of constant length, with all that
// is inside, gets a copy without the guards that then always hold.
//
//     for (k = 0; k < 16; ++k)                          if (ko * 16 + 15 < K && x * 4 + 3 < N)
//       for (j = 0; j < 4; ++j)                           for (k = 0; k < 16; ++k)
//         if (ko * 16 + k < K && x * 4 + j < N)    ->       for (j = 0; j < 4; ++j)
//           C_acc[j] += A[k] * B[k, j]                        C_acc[j] += A[k] * B[k, j]
//                                                       else
//                                                         as before
//
// The other copy is not unrolled, but for the sake of registers (unroll_registers.h, which comes behind).
// Loops in which threads wait for each other stay as they are, since a tile may be whole for some of them; those inside
// get their turn. What partition_loops does on a CPU, cutting loops where a guard begins to hold, would make loops that
// differ from thread to thread.
//
// Before: insert_barriers, which says where threads wait; simplified; multi-dimensional indices. Before
// unroll_registers.
#pragma once

#include "crosscompile/ir/function.h"

namespace ferry::passes {

ir::Function double_tiles(ir::Function function);

}  // namespace ferry::passes
