// Modules for OpenCL and CUDA with kernels that ferry's compiler had no part in.
#pragma once

#include <string>
#include <vector>

#include "rpc/abi/module_file.h"

namespace ferry::test {

// f(in f32[n] A, in f32 more, out f32[n] C): C[n - 1 - i] = 2 * A[i] + more, by two kernels, through the workspace.
// `text`: OpenCL C to take instead of what computes that.
ModuleFile gpu_module(const std::string& text = "");
// The same for CUDA, as PTX.
ModuleFile cuda_module();
// With other images: pairs of kind and text.
ModuleFile cuda_module(const std::vector<std::pair<std::string, std::string>>& images);

// With a kernel ahead that refuses an odd n, with "n is odd".
ModuleFile with_verdict(ModuleFile module);

}  // namespace ferry::test
