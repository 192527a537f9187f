// The functions that kernels may import: those of module/symbols.def, linked into this program.
#pragma once

#include <string_view>

namespace ferry::device {

// Returns null if kernels may not import that name.
void* find_import(std::string_view name);

}  // namespace ferry::device
