// What kernels may import: the functions of rpc/abi/symbols.def, linked into this program.
#pragma once

#include <string_view>

namespace ferry::device {

// Null when kernels may not import that name.
void* find_import(std::string_view name);

}  // namespace ferry::device
