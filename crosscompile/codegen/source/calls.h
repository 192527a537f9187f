// Calls: math, bits, and functions that somebody else defines.
#pragma once

#include "crosscompile/codegen/source/expressions.h"

namespace ferry::codegen::source {

Text call_text(FunctionState& state, const ir::Call& node);
// As a statement, whose arguments may be addresses.
void print_extern_call(FunctionState& state, const ir::Call& node);

}  // namespace ferry::codegen::source
