// OpenCL's CPU device on this machine (PoCL), as far as tests of printed kernels need it.
#pragma once

#include "crosscompile/ir/function.h"

#include <cstdint>
#include <map>
#include <string>

namespace ferry::codegen_test {

// Dense tensors, and no scalars but int64. Builds the text and runs the function's kernels on `arguments`, which are
// what a CPU kernel takes. Throws std::runtime_error with the compiler's messages and the text.
void run_opencl(const std::string& text, const ir::Function& function, const std::map<std::string, std::int64_t>& sizes,
                void* const* arguments);

}  // namespace ferry::codegen_test
