// The contents of a module for a GPU: plans in place of CPU code, and images that the device's driver loads.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"
#include "module/module_file.h"

#include <span>
#include <vector>

namespace ferry {

// Returns the target that the passes compile a module's functions for: the target itself or, where LLVM alone generates
// the code for CUDA, PTX of the first GPU, so that the plan matches LLVM's kernels.
Target pipeline_target(const Target& target);

// Returns the plan of a function that went through all passes.
Plan plan_of(const ir::Function& function, const Target& target);

// Compiles all functions together; `functions` are as they were before the passes, `finished` after them. For OpenCL
// the result is OpenCL C as text. For CUDA it is one cubin per architecture that the target names, made by NVRTC, and
// PTX for the first one, made by LLVM, for GPUs that no cubin fits. Architectures that NVRTC does not know get PTX
// instead of a cubin, and so do all of them where NVRTC is missing or with -compiler=llvm. With -compiler=nvrtc there
// are cubins only.
std::vector<CodeImage> gpu_images(std::span<const ir::Function> functions, std::span<const ir::Function> finished,
                                  const Target& target);

}  // namespace ferry
