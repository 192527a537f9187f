// A whole function under the kernel ABI.
#pragma once

#include "crosscompile/codegen/source/state.h"

namespace ferry::codegen::source {

// "ferry_fn_mm", as a module's manifest has it.
std::string symbol_of(const ir::Function& function);

// Adds the function, behind the bodies of its parallel loops, to the unit's.
void print_kernel(Unit& unit, const ir::Function& function);

}  // namespace ferry::codegen::source
