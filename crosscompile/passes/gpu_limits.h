// Refuses kernels that a target's GPU has no room for.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"

namespace ferry::passes {

// Of a function that went through all other passes. CompileError, with the numbers, for blocks of more threads or more
// shared memory than the target allows; what the target does not say, the device says when it loads the module.
void check_gpu_limits(const ir::Function& function, const Target& target);

}  // namespace ferry::passes
