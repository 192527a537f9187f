// Where the threads of a GPU's block wait for each other: the statement `barrier();`, an Evaluate of a Call of that
// name. What one wrote to shared memory before it, all may read after it. Every thread of the block comes by the same
// barriers, equally often.
#pragma once

#include "crosscompile/ir/stmt.h"

namespace ferry::ir {

Stmt make_barrier();
bool is_barrier(const Evaluate& statement);
// Whether a barrier or a shuffle (ir/shuffle.h) is in it.
bool is_common(const Stmt& stmt);

}  // namespace ferry::ir
