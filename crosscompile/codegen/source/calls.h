// Prints calls: math functions, bitcasts, and external functions.
#pragma once

#include "crosscompile/codegen/source/expressions.h"

namespace ferry::codegen::source {

Text call_text(FunctionState& state, const ir::Call& node);
// Prints the call as a statement; its arguments may be addresses.
void print_extern_call(FunctionState& state, const ir::Call& node);

}  // namespace ferry::codegen::source
