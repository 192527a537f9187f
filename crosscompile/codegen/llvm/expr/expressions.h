// Emits the value of an expression at the state's insertion point.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

llvm::Value* emit_expr(FunctionState& state, const ir::Expr& expr);

// Calls `make` for code that runs only when the condition (a scalar i1) holds; otherwise the result is `otherwise`.
template <class Make>
llvm::Value* emit_guarded(FunctionState& state, llvm::Value* condition, llvm::Value* otherwise, Make make) {
  llvm::BasicBlock* before = state.builder.GetInsertBlock();
  llvm::BasicBlock* chosen = state.new_block("guarded");
  llvm::BasicBlock* after = state.new_block("guarded.end");
  state.builder.CreateCondBr(condition, chosen, after);
  state.builder.SetInsertPoint(chosen);
  llvm::Value* value = make();
  llvm::BasicBlock* chosen_end = state.builder.GetInsertBlock();
  state.builder.CreateBr(after);
  state.builder.SetInsertPoint(after);
  llvm::PHINode* result = state.builder.CreatePHI(value->getType(), 2);
  result->addIncoming(value, chosen_end);
  result->addIncoming(otherwise, before);
  return result;
}

}  // namespace ferry::codegen
