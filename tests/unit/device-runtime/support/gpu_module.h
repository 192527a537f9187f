// Modules for OpenCL and CUDA with kernels written by hand instead of by ferry's compiler.
#pragma once

#include <string>
#include <vector>

#include "module/module_file.h"

namespace ferry::test {

// f(in f32[n] A, in f32 more, out f32[n] C): C[n - 1 - i] = 2 * A[i] + more, computed by two kernels through the
// workspace. `text` is OpenCL C that replaces their source.
ModuleFile gpu_module(const std::string& text = "");
// The same function for CUDA, as PTX.
ModuleFile cuda_module();
// The same with other images, given as pairs of name and text.
ModuleFile cuda_module(const std::vector<std::pair<std::string, std::string>>& images);

// A step of f, to be changed.
LaunchStep& launch_of(ModuleFile& module, std::size_t step);
// Gives f a value that is a number, if it has none.
ValueIndex constant_value(ModuleFile& module, std::int64_t value);

// Adds a first kernel that refuses an odd n with "n is odd".
ModuleFile with_verdict(ModuleFile module);

// Makes A a constant: an init plan computes 2 * A, and refuses an odd n after with_verdict().
ModuleFile with_init_plan(ModuleFile module);

}  // namespace ferry::test
