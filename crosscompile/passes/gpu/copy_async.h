// Turns loads that fetch tensors into shared memory ahead of their use into asynchronous copies, on targets that have
// them (CUDA from sm_80 on): the thread continues while 4, 8 or 16 bytes are in flight, and waits for them one or more
// iterations later, as double_buffer arranges (ir/async_copy.h).
//
//     vectorized for (i = 0; i < 4; ++i)               copy_async(&S[p, 4 * t], &A[k, 4 * t], 16) {
//       S[p, 4 * t + i] = A[k, 4 * t + i]        ->      vectorized for (i = 0; i < 4; ++i)
//                                                          S[p, 4 * t + i] = A[k, 4 * t + i]
//                                                      }
//
// A copy of several elements must be provably aligned on both sides; otherwise each element is copied by itself, if it
// is large enough. Where no store becomes a copy, nothing needs to be waited for, and the statements that order copies
// are removed.
//
// Runs after insert_barriers, which places the barrier after the wait. Indices are still multi-dimensional.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/target/target.h"

namespace ferry::passes {

ir::Function copy_async(ir::Function function, const Target& target);

}  // namespace ferry::passes
