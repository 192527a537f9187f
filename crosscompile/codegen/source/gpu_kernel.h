// The kernels of a function for a GPU (passes/launches.h): what every thread runs.
#pragma once

#include "crosscompile/codegen/source/state.h"

namespace ferry::codegen::source {

// Adds them to the unit's functions.
void print_gpu_kernels(Unit& unit, const ir::Function& function);

}  // namespace ferry::codegen::source
