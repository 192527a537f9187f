// What a module holds for a GPU: plans instead of code of its own, and images that the device's driver takes.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"
#include "rpc/abi/module_file.h"

#include <span>
#include <vector>

namespace ferry {

// What the passes make a module's functions for: the target itself or, where LLVM alone makes the code for CUDA, PTX of
// the first GPU, so that the plan is that of its own kernels.
Target pipeline_target(const Target& target);

// Of a function that went through all passes.
Plan plan_of(const ir::Function& function, const Target& target);

// Of all functions together, as they were and when they went through all passes: OpenCL C as text; or for CUDA a cubin
// for each architecture that the target names, by NVRTC, and PTX for the first one, by LLVM, for GPUs that none of them
// fits. For what NVRTC does not know, where there is none, or with -compiler=llvm, PTX for each; with -compiler=nvrtc
// cubins alone.
std::vector<CodeImage> gpu_images(std::span<const ir::Function> functions, std::span<const ir::Function> finished,
                                  const Target& target);

}  // namespace ferry
