// Prints parallel loops: the body becomes a function of its own, which the runtime calls for parts of the loop.
#pragma once

#include "crosscompile/codegen/source/state.h"

namespace ferry::codegen::source {

void print_parallel(FunctionState& state, const ir::For& node);

}  // namespace ferry::codegen::source
