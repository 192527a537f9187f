// Operations of the threads of an NVIDIA GPU that a CPU does not have.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

// Return the number of the running block or thread along an axis (0 for x), as an index.
llvm::Value* emit_block_index(FunctionState& state, std::size_t axis);
llvm::Value* emit_thread_index(FunctionState& state, std::size_t axis);

// Throws CompileError on a CPU.
void emit_barrier(FunctionState& state);
// Emits a shuffle (ir/shuffle.h).
llvm::Value* emit_shuffle(FunctionState& state, llvm::Value* value, llvm::Value* mask);

}  // namespace ferry::codegen
