// Gives each kernel of a GPU one grid and one block: its loops over blocks and threads, wherever schedules placed them,
// become one nest around the whole kernel, in which each axis occurs once.
//
//     blockIdx.x for (i.o)                             blockIdx.x for (blockIdx.x = 0; ...)
//       threadIdx.x for (i.i)                            shared f32 S[64]
//         shared f32 S[64]                               threadIdx.x for (threadIdx.x = 0; ...)
//           threadIdx.x for (j.i)             ->           S[threadIdx.x] = ...
//             S[j.i] = ...                                 C[blockIdx.x * 64 + threadIdx.x] = ... S ...
//           C[i.o * 64 + i.i] = ... S ...
//
// A kernel is a statement of the function's outermost block. In it, a store outside of any loop over an axis of the
// block is executed by the first thread of that axis; local memory is private to each thread. Barriers are inserted
// later (insert_barriers.h).
//
// Throws CompileError for loops that do not fit together: two extents of one axis, a number of threads that is not
// constant, shared memory without a constant size, memory of a kind that its place does not allow.
#pragma once

#include "crosscompile/ir/function.h"

namespace ferry::passes {

// Returns functions without such loops unchanged.
ir::Function map_threads(ir::Function function);

}  // namespace ferry::passes
