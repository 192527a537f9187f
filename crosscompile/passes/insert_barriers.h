// Puts barriers into kernels, where one thread of a block needs what another wrote to shared memory, or overwrites what
// another reads, and nowhere else: as far out as they may stand, so that a loop which only writes has none inside.
//
//     for (k)                                for (k)
//       S[threadIdx.x] = A[k]                  barrier()              of the iteration before: S is still being read
//       C_acc += S[j]               ->         S[threadIdx.x] = A[k]
//                                              barrier()
//                                              C_acc += S[j]
//
// What lands late (ir/late_copy.h) counts as stored where it is waited for. No barrier is needed where threads keep to
// elements of their own: both statements index the array in the same way, by every axis of the block; nor between parts
// k % n and (k + 1) % n of an array that double_buffer has made wider, or parts 3 and k where the first is written
// under the condition that k is 0.
//
// Before: map_threads, split_vthreads; multi-dimensional indices.
// CompileError where one is needed under a condition that differs from thread to thread.
#pragma once

#include "crosscompile/ir/function.h"

namespace ferry::passes {

ir::Function insert_barriers(ir::Function function);

}  // namespace ferry::passes
