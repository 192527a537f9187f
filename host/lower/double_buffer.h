// Stages that `double_buffer` computes ahead of the loop they are computed at:
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

// In the loops of all nests, where tensors are read from where they are kept already. CompileError for a stage that
// cannot be computed ahead: it needs what its own iteration computes, or stands in a loop whose iterations have no
// order.
ir::Stmt double_buffers(const Nests& nests, const ir::Stmt& body);

}  // namespace ferry::lower
