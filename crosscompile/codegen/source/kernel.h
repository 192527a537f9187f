// Prints a whole function with the kernel ABI.
#pragma once

#include "crosscompile/codegen/source/state.h"

namespace ferry::codegen::source {

// Returns "ferry_fn_mm", for example, as in a module's manifest.
std::string symbol_of(const ir::Function& function);

// Returns the comment above the function: how to call it, what it requires and what its results mean.
std::string comment(const ir::Function& function);
// Records the ranges of sizes.
void note_sizes(FunctionState& state);

// Adds the function, after the bodies of its parallel loops, to the unit's functions.
void print_kernel(Unit& unit, const ir::Function& function);

}  // namespace ferry::codegen::source
