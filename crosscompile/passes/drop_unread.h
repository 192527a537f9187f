// Removes what kernels store where nobody reads it, and the buffers themselves: a stage whose readers have no
// iterations, say.
//
//     global f32 P[585]
//     blockIdx.x for (b in 1)                       blockIdx.x for (b in 1)
//       P[...] = I[...]                      ->       Y[...] = I[...]
//     blockIdx.x for (b in 1)
//       Y[...] = I[...]
//
// Checks stay. For GPUs: both ways to CUDA, by source and by LLVM, then have the same kernels, so that one plan serves
// both.
//
// Before: all passes that make or remove loads; where buffers are is not known yet (plan_workspace).
#pragma once

#include "crosscompile/ir/function.h"

namespace ferry::passes {

ir::Function drop_unread(ir::Function function);

}  // namespace ferry::passes
