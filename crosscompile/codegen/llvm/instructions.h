// Emits instructions of NVIDIA GPUs, which the IR calls by name: asynchronous copies (ir/async_copy.h) and tensor cores
// (passes/tensor_core.h).
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

// Emits the instruction or, on a target without it, its definition.
void emit_instruction(FunctionState& state, const ir::Intrinsic& node);

// Returns false, and emits nothing, when the statement is anything else.
bool emit_copy_order(FunctionState& state, const ir::Evaluate& node);

}  // namespace ferry::codegen
