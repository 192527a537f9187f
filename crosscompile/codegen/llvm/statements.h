// Emits statements: control flow, allocation and early returns.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

#include <functional>

namespace ferry::codegen {

void emit_stmt(FunctionState& state, const ir::Stmt& stmt);

// Emits for (variable = begin; variable < end; ++variable) body(variable), for int64 values. `range` is the variable's.
void emit_loop(FunctionState& state, llvm::Value* begin, llvm::Value* end, const ValueRange& range,
               const llvm::Twine& name, const std::function<void(llvm::Value*)>& body);

// Returns from the function with `result` when the condition holds, which is marked as unlikely.
void emit_return_if(FunctionState& state, llvm::Value* condition, llvm::Value* result);

}  // namespace ferry::codegen
