// Expands virtual threads: a vthread loop is distributed over the innermost statements that depend on it, so that work
// that its iterations share (a fetch into shared memory, a barrier, the loop over a reduction) is done once for all of
// them, and local arrays get one part for each iteration.
//
//     vthread for (v = 0; v < 2; ++v)                  local f32 acc[2, 1]
//       local f32 acc[1]                               unrolled for (v = 0; v < 2; ++v)
//       acc[0] = 0                                       acc[v, 0] = 0
//       for (k)                             ->         for (k)
//         S[threadIdx.x] = A[k, threadIdx.x]             S[threadIdx.x] = A[k, threadIdx.x]
//         acc[0] += S[v]                                 unrolled for (v = 0; v < 2; ++v)
//                                                          acc[v, 0] += S[v]
//
// Runs after map_threads, which moves shared memory out of the loops over threads.
// Throws CompileError when the number of virtual threads is not constant.
#pragma once

#include "crosscompile/ir/function.h"

namespace ferry::passes {

ir::Function split_vthreads(ir::Function function);

}  // namespace ferry::passes
