// Multiple buffering: stages marked `double_buffer` are computed ahead of the loop they are computed at:
//
//     for (k = 0; k < n; ++k)                      allocate B[2, 64]
//       allocate B[64]                             if (0 < n) B[0, ...] = ... of 0
//       B[...] = ... of k                    ->    for (k = 0; k < n; ++k)
//       C += ... B[...]                              if (k + 1 < n) B[(k + 1) % 2, ...] = ... of k + 1
//                                                    C += ... B[k % 2, ...]
#pragma once

#include "crosscompile/ir/stmt.h"
#include "host/lower/nest.h"

namespace ferry::lower {

// Rewrites the loops of all nests after storage has been assigned to tensors. Throws CompileError for a stage that
// cannot be computed ahead because it needs values of its own iteration, or because it is in a loop whose iterations
// are unordered.
ir::Stmt double_buffers(const Nests& nests, const ir::Stmt& body);

}  // namespace ferry::lower
