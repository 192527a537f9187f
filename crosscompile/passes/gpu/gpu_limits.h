// Rejects kernels that exceed the limits of the target's GPU.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/target/target.h"

namespace ferry::passes {

// Takes a function that went through all other passes. Throws CompileError, with the numbers, for blocks with more
// threads or more shared memory than the target allows; the device checks limits that the target does not give when it
// loads the module.
void check_gpu_limits(const ir::Function& function, const Target& target);

}  // namespace ferry::passes
