// Instructions of NVIDIA GPUs that CUDA C has no expression for, as functions around a line of assembly: asynchronous
// copies (ir/late_copy.h) and tensor cores (passes/tensor_core.h).
#pragma once

#include "crosscompile/codegen/source/state.h"

namespace ferry::codegen::source {

// What it means, in a language that does not have it.
void print_instruction(FunctionState& state, const ir::Intrinsic& node);

// False, and nothing printed, when the statement is something else.
bool print_copy_order(FunctionState& state, const ir::Evaluate& node);

}  // namespace ferry::codegen::source
