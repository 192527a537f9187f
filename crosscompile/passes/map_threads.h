// Gives each kernel of a GPU one grid and one block: its loops over blocks and threads, wherever schedules left them,
// become one nest around all that the kernel does, each axis once.
//
//     blockIdx.x for (i.o)                             blockIdx.x for (blockIdx.x = 0; ...)
//       threadIdx.x for (i.i)                            shared f32 S[64]
//         shared f32 S[64]                               threadIdx.x for (threadIdx.x = 0; ...)
//           threadIdx.x for (j.i)             ->           S[threadIdx.x] = ...
//             S[j.i] = ...                                 C[blockIdx.x * 64 + threadIdx.x] = ... S ...
//           C[i.o * 64 + i.i] = ... S ...
//
// A kernel is a statement of the function's outermost block. In it, what is stored where an axis of the block has no
// loop is stored by the first thread of that axis; local memory is every thread's own. Barriers are still missing
// (insert_barriers.h).
//
// CompileError for loops that do not fit together: two extents of one axis, a number of threads that is not constant,
// shared memory without a constant size, memory of a kind that its place does not allow.
#pragma once

#include "crosscompile/ir/function.h"

namespace ferry::passes {

// Functions without such loops come back as they are.
ir::Function map_threads(ir::Function function);

// Whether anything in it runs over blocks or threads.
bool has_gpu_loops(const ir::Stmt& stmt);

}  // namespace ferry::passes
