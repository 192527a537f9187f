// From the one way that devices call kernels to the way that a C function wants to be called.
#pragma once

#include "crosscompile/target/target.h"
#include "rpc/abi/manifest.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::codegen {

// An object that defines function.symbol: it takes its arguments from the packed ones, numbers by value, tensors as
// pointers, then each size that no parameter is named after as int64_t, and calls `c_name` by the C ABI of the target.
// elsewhere: in another image, which the device finds.
std::vector<std::uint8_t> emit_adapter(const FunctionInfo& function, const std::string& c_name, bool returns_status,
                                       bool elsewhere, const Target& target);

}  // namespace ferry::codegen
