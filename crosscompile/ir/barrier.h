// The barrier of a GPU's block: the statement `barrier();`, an Evaluate of a Call. Writes to shared memory before the
// barrier are visible to all threads of the block after it. All threads of a block must reach every barrier, equally
// often (convergence).
#pragma once

#include "crosscompile/ir/stmt.h"

namespace ferry::ir {

Stmt make_barrier();
bool is_barrier(const Evaluate& statement);
// Returns whether the statement contains a collective operation, a barrier or a shuffle (ir/shuffle.h).
bool is_collective(const Stmt& stmt);

}  // namespace ferry::ir
