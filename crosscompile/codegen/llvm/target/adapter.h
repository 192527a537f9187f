// Adapts the calling convention of devices to that of a C function.
#pragma once

#include "ferry/target/target.h"
#include "module/manifest.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ferry::codegen {

// Numbers of the function's symbols that a C function takes behind its parameters, in this order, each as int64_t:
// those that no parameter is named after.
std::vector<std::size_t> passed_sizes(const FunctionInfo& function);

// Returns an object that defines the symbol of the function's native code. That function unpacks its arguments, scalars
// by value, tensors as pointers, then as int64_t each size that is not a parameter itself, and calls `c_name` with the
// target's C ABI. elsewhere: the callee is in another image, where the device finds it.
std::vector<std::uint8_t> emit_adapter(const FunctionInfo& function, const std::string& c_name, bool returns_status,
                                       bool elsewhere, const Target& target);

}  // namespace ferry::codegen
