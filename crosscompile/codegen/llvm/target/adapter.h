// Adapts the calling convention of devices to that of a C function.
#pragma once

#include "ferry/target/target.h"
#include "module/manifest.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ferry::codegen {

// An argument of a C function: a parameter, or a size of the function that the adapter is for, as an integer of this
// type.
struct PassedArgument {
  bool is_size = false;
  std::size_t index = 0;
  DType dtype = DType::i64;
};

// Returns an object that defines the symbol of the function's native code. That function unpacks its arguments, passes
// scalars and sizes by value and tensors as pointers, and calls `c_name` with the target's C ABI. elsewhere: the callee
// is in another image, where the device finds it.
std::vector<std::uint8_t> emit_adapter(const FunctionInfo& function, std::span<const PassedArgument> passed,
                                       const std::string& c_name, bool returns_status, bool elsewhere,
                                       const Target& target);

}  // namespace ferry::codegen
