// Finds loops over blocks and threads.
#pragma once

#include "crosscompile/ir/stmt.h"

namespace ferry::ir {

// Returns whether the statement contains loops over blocks or threads.
bool has_gpu_loops(const Stmt& stmt);

}  // namespace ferry::ir
