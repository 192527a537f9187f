// Names of functions in compiled code.
#pragma once

namespace ferry {

// The symbol of a function is this prefix and its name. Further kernels of a function for GPUs have a number behind it.
inline constexpr const char* kSymbolPrefix = "ferry_fn_";
// The symbol of the code of a function's init plan is this prefix and the function's name.
inline constexpr const char* kInitSymbolPrefix = "ferry_init_";

}  // namespace ferry
