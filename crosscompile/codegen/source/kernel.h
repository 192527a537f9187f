// A whole function under the kernel ABI.
#pragma once

#include "crosscompile/codegen/source/state.h"

namespace ferry::codegen::source {

// "ferry_fn_mm", as a module's manifest has it.
std::string symbol_of(const ir::Function& function);

// What stands above the function: how to call it, what it wants and what its results mean.
std::string comment(const ir::Function& function);
// What sizes can be.
void note_sizes(FunctionState& state);

// Adds the function, behind the bodies of its parallel loops, to the unit's.
void print_kernel(Unit& unit, const ir::Function& function);

}  // namespace ferry::codegen::source
