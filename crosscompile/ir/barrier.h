// The barrier of a GPU's block: the statement `barrier();`, an Evaluate of a Call. What a thread writes to
// shared memory before it is visible to all threads of the block after it. All threads of a block must reach every
// barrier, equally often (convergence).
#pragma once

#include "crosscompile/ir/stmt.h"

namespace ferry::ir {

Stmt make_barrier();
bool is_barrier(const Evaluate& statement);
// Returns whether the statement contains a barrier or a shuffle (ir/shuffle.h).
bool is_common(const Stmt& stmt);

}  // namespace ferry::ir
