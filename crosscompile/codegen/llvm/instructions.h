// Emits instructions of NVIDIA GPUs, asynchronous copies (ir/async_copy.h) and tensor cores
// (passes/tensorize/tensor_core.h), and those of AMX's tiles (tiles.h).
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

// Emits the instruction or, on a target without it, its definition.
void emit_instruction(FunctionState& state, const ir::InstructionStmt& node);

// Emits a commit_copies or a wait_copies.
void emit_copy_order(FunctionState& state, const ir::Evaluate& node);

}  // namespace ferry::codegen
