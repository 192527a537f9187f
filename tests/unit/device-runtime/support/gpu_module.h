// A module for OpenCL with kernels that ferry's compiler had no part in.
#pragma once

#include <string>

#include "rpc/abi/module_file.h"

namespace ferry::test {

// f(in f32[n] A, in f32 more, out f32[n] C): C[n - 1 - i] = 2 * A[i] + more, by two kernels, through the workspace.
// `text`: OpenCL C to take instead of what computes that.
ModuleFile gpu_module(const std::string& text = "");

}  // namespace ferry::test
