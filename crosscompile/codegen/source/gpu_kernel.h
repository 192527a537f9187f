// Prints the kernels of a function for a GPU (passes/gpu/extract_kernels.h), as the code of each thread.
#pragma once

#include "crosscompile/codegen/source/state.h"

namespace ferry::codegen::source {

// Adds the kernels to the unit's functions.
void print_gpu_kernels(Unit& unit, const ir::Function& function);

}  // namespace ferry::codegen::source
