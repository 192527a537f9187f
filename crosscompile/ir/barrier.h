// Where the threads of a GPU's block wait for each other: the statement `barrier();`, an Evaluate of a Call of that
// name. What one wrote to shared memory before it, all may read after it. Every thread of the block comes by the same
// barriers, equally often.
#pragma once

#include "crosscompile/ir/stmt.h"

namespace ferry::ir {

Stmt make_barrier();
bool is_barrier(const Evaluate& statement);
bool has_barrier(const Stmt& stmt);

}  // namespace ferry::ir
