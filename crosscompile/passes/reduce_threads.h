// Has the threads of a block combine what each of them has, together, instead of each on its own: loops of
// ForKind::combine become a few steps.
//
//     shared f32 C_acc[256]                         local f32 C_acc                      its own
//     C_acc[threadIdx.x] = ...                      C_acc = ...
//     combine for (k in 256)                 ->     for (halving in 5)                      within a warp
//       C_total += C_acc[k]                           C_acc_other = shuffle_xor(C_acc, 16 >> halving)
//                                                     C_acc += C_acc_other
//                                                   if (threadIdx.x % 32 == 0) C_acc_warps[threadIdx.x / 32] = C_acc
//                                                   C_acc = C_acc_warps[threadIdx.x % 8]
//                                                   for (halving in 3) ...                  over the warps
//                                                   C_total += C_acc
//
// That is on CUDA, where the threads that combine are whole warps or an even part of one, or all there are. Elsewhere
// they halve an array in shared memory:
//
//     C_acc_all[threadIdx.x] = C_acc
//     for (halving in 8)
//       if (threadIdx.x < 128 >> halving) C_acc_all[threadIdx.x] += C_acc_all[threadIdx.x + (128 >> halving)]
//     C_total += C_acc_all[0]
//
// Any number of threads will do; tuples go together. All threads end with the result. Barriers are still missing
// (insert_barriers.h).
//
// Before: map_threads, so that every thread has its place in the block.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"

namespace ferry::passes {

ir::Function reduce_threads(ir::Function function, const Target& target);

}  // namespace ferry::passes
