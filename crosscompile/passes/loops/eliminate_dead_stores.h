// Dead store elimination in kernels: removes stores to buffers that nothing reads, and the buffers themselves, for
// example of a stage whose readers have no iterations.
//
//     global f32 P[585]
//     blockIdx.x for (b in 1)                       blockIdx.x for (b in 1)
//       P[...] = I[...]                      ->       Y[...] = I[...]
//     blockIdx.x for (b in 1)
//       Y[...] = I[...]
//
// Assertions stay. For GPUs: source and LLVM code generation for CUDA then have the same kernels, so that one plan
// serves both.
//
// Runs after all passes that make or remove loads, and before plan_workspace, which places the buffers.
#pragma once

#include "crosscompile/ir/function.h"

namespace ferry::passes {

ir::Function eliminate_dead_stores(ir::Function function);

}  // namespace ferry::passes
