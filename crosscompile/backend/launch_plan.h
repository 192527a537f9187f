// The plans of modules for GPUs: which kernels a function launches, with which operands.
#pragma once

#include "crosscompile/ir/function.h"
#include "module/manifest.h"

namespace ferry {

// Who states the size of a kernel's shared memory: its own text, or the launch where it exceeds the static limit
// (passes::kStaticSharedBytes).
enum class SharedMemory : std::uint8_t { in_kernel, at_launch };

// Returns the plan of a function that went through all passes.
Plan launch_plan(const ir::Function& function, SharedMemory shared);

}  // namespace ferry
