// This machine's OpenCL CPU device (PoCL), as far as tests of printed kernels need it.
#pragma once

#include "crosscompile/ir/function.h"

#include <cstdint>
#include <map>
#include <string>

namespace ferry::codegen_test {

// Builds the text and runs the function's kernels on `arguments`, in the form that a CPU kernel takes. Supports only
// dense tensors and int64 scalars. Throws std::runtime_error with the compiler's messages and the text.
void run_opencl(const std::string& text, const ir::Function& function, const std::map<std::string, std::int64_t>& sizes,
                void* const* arguments);

}  // namespace ferry::codegen_test
