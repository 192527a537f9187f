// Lets the threads of a block combine their partial results together: loops of ForKind::combine, which every thread
// would run alone, become a reduction tree of a few steps.
//
//     shared f32 C_acc[256]                         local f32 C_acc                      private to a thread
//     C_acc[threadIdx.x] = ...                      C_acc = ...
//     combine for (k in 256)                 ->     for (halving in 5)                      within a warp
//       C_total += C_acc[k]                           C_acc_other = shuffle_xor(C_acc, 16 >> halving)
//                                                     C_acc += C_acc_other
//                                                   if (threadIdx.x % 32 == 0) C_acc_warps[threadIdx.x / 32] = C_acc
//                                                   C_acc = C_acc_warps[threadIdx.x % 8]
//                                                   for (halving in 3) ...                  across the warps
//                                                   C_total += C_acc
//
// That is the form on CUDA, if the threads that combine are whole warps, an even fraction of one, or the whole block.
// Elsewhere they halve an array in shared memory:
//
//     C_acc_all[threadIdx.x] = C_acc
//     for (halving in 8)
//       if (threadIdx.x < 128 >> halving) C_acc_all[threadIdx.x] += C_acc_all[threadIdx.x + (128 >> halving)]
//     C_total += C_acc_all[0]
//
// The number of threads is arbitrary; the components of tuples are combined together. Afterwards all threads have the
// result. Barriers are inserted later (insert_barriers.h).
//
// Runs after map_threads, so that every thread has its place in the block.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/target/target.h"

namespace ferry::passes {

ir::Function reduce_threads(ir::Function function, const Target& target);

}  // namespace ferry::passes
