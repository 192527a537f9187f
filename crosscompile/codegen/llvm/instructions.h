// Instructions of NVIDIA GPUs that stand as calls of their names: asynchronous copies (ir/late_copy.h) and tensor cores
// (passes/tensor_core.h).
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

// What it means, on a target that does not have it.
void emit_instruction(FunctionState& state, const ir::Intrinsic& node);

// False, and nothing emitted, when the statement is something else.
bool emit_copy_order(FunctionState& state, const ir::Evaluate& node);

}  // namespace ferry::codegen
