// Inserts barriers into kernels where one thread of a block reads what another wrote to shared memory, or overwrites
// what another reads, and nowhere else. They are placed as far out as possible, so that a loop which only writes has
// none inside.
//
//     for (k)                                for (k)
//       S[threadIdx.x] = A[k]                  barrier()              for the previous iteration: S is still being read
//       C_acc += S[j]               ->         S[threadIdx.x] = A[k]
//                                              barrier()
//                                              C_acc += S[j]
//
// Asynchronous stores (ir/async_copy.h) count as stored at the wait. No barrier is needed where each thread accesses
// only its own elements, because both statements index the array in the same way, by every axis of the block; nor
// between parts k % n and (k + 1) % n of an array that double_buffer has extended, or parts 3 and k where the first is
// written under the condition that k is 0.
//
// Runs after map_threads and split_vthreads. Indices are still multi-dimensional.
// Throws CompileError where a barrier is needed under a condition that differs from thread to thread.
#pragma once

#include "crosscompile/ir/function.h"

namespace ferry::passes {

ir::Function insert_barriers(ir::Function function);

}  // namespace ferry::passes
