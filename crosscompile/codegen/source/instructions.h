// Instructions of NVIDIA GPUs that CUDA C has no expression for, as functions around inline assembly: asynchronous
// copies (ir/async_copy.h) and tensor cores (passes/tensorize/tensor_core.h).
#pragma once

#include "crosscompile/codegen/source/state.h"

namespace ferry::codegen::source {

// Prints the instruction or, in a language without it, its definition.
void print_instruction(FunctionState& state, const ir::InstructionStmt& node);

// Prints a commit_copies or a wait_copies.
void print_copy_order(FunctionState& state, const ir::Evaluate& node);

}  // namespace ferry::codegen::source
