#include "crosscompile/codegen/llvm/runtime_slots.h"

#include "crosscompile/ir/error.h"

namespace ferry::codegen {
namespace {

llvm::FunctionType* slot_type(FunctionState& state, RuntimeSlot slot) {
  llvm::IRBuilder<>& b = state.builder;
  llvm::Type* pointer = b.getPtrTy();
  switch (slot) {
    case RuntimeSlot::parallel_for:
      return llvm::FunctionType::get(b.getInt32Ty(), {pointer, b.getInt64Ty(), b.getInt64Ty(), pointer, pointer},
                                     false);
    case RuntimeSlot::workspace: return llvm::FunctionType::get(pointer, {pointer, b.getInt32Ty()}, false);
  }
  throw InternalError("slot_type: unknown slot");
}

}  // namespace

llvm::CallInst* call_runtime(FunctionState& state, RuntimeSlot slot, llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::IRBuilder<>& b = state.builder;
  llvm::Type* pointer = b.getPtrTy();
  auto* table =
      llvm::StructType::get(state.context(), {b.getInt32Ty(), b.getInt32Ty(), pointer, pointer, pointer, pointer});
  llvm::Value* place = b.CreateStructGEP(table, state.runtime, static_cast<unsigned>(slot));
  llvm::LoadInst* function = b.CreateLoad(pointer, place);
  function->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(state.context(), {}));
  llvm::SmallVector<llvm::Value*, 6> all{state.runtime};
  all.append(arguments.begin(), arguments.end());
  llvm::CallInst* call = b.CreateCall(slot_type(state, slot), function, all);
  call->setDoesNotThrow();
  return call;
}

}  // namespace ferry::codegen
