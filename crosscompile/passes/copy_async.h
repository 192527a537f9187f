// Makes asynchronous copies of what fetches tensors into shared memory ahead of its use, where the target has them
// (CUDA from sm_80 on): the thread goes on while 4, 8 or 16 bytes are on their way, and waits for them an iteration or
// more later, as double_buffer has it (ir/late_copy.h).
//
//     vectorized for (i = 0; i < 4; ++i)               copy_async(&S[p, 4 * t], &A[k, 4 * t], 16) {
//       S[p, 4 * t + i] = A[k, 4 * t + i]        ->      vectorized for (i = 0; i < 4; ++i)
//                                                          S[p, 4 * t + i] = A[k, 4 * t + i]
//                                                      }
//
// A copy of several elements must be aligned on both sides for certain; otherwise each goes by itself, if it is large
// enough. Where nothing becomes one, nobody has to wait, and what orders copies goes.
//
// Before: insert_barriers, which puts the barrier behind the wait; multi-dimensional indices.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"

namespace ferry::passes {

ir::Function copy_async(ir::Function function, const Target& target);

}  // namespace ferry::passes
