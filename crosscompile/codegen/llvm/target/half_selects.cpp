#include "crosscompile/codegen/llvm/target/half_selects.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

namespace ferry::codegen {

void select_halves_as_bits(llvm::Module& module) {
  llvm::SmallVector<llvm::SelectInst*, 16> found;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction);
          select != nullptr && select->getType()->getScalarType()->isHalfTy())
        found.push_back(select);
  for (llvm::SelectInst* select : found) {
    llvm::IRBuilder<> b(select);
    llvm::Type* const type = select->getType();
    llvm::Type* const bits = type->getWithNewType(b.getInt16Ty());
    llvm::Value* const chosen = b.CreateSelect(select->getCondition(), b.CreateBitCast(select->getTrueValue(), bits),
                                               b.CreateBitCast(select->getFalseValue(), bits));
    select->replaceAllUsesWith(b.CreateBitCast(chosen, type));
    select->eraseFromParent();
  }
}

}  // namespace ferry::codegen
