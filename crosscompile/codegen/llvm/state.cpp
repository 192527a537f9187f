#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

llvm::AllocaInst* FunctionState::entry_alloca(llvm::Type* type, llvm::Align alignment, const llvm::Twine& name) {
  llvm::BasicBlock& entry = function->getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.getFirstInsertionPt());
  llvm::AllocaInst* memory = at_entry.CreateAlloca(type, nullptr, name);
  memory->setAlignment(alignment);
  return memory;
}

}  // namespace ferry::codegen
