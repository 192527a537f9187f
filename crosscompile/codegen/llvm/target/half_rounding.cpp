#include "crosscompile/codegen/llvm/target/half_rounding.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <iterator>

namespace ferry::codegen {
namespace {

constexpr llvm::Intrinsic::ID kRoundings[] = {llvm::Intrinsic::floor, llvm::Intrinsic::ceil, llvm::Intrinsic::trunc,
                                              llvm::Intrinsic::round, llvm::Intrinsic::roundeven};

// Rounds vectors to even lane by lane: their instruction is not selected either.
llvm::Value* rounded(llvm::IRBuilder<>& b, llvm::Intrinsic::ID id, llvm::Value* floats) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(floats->getType());
  if (vector == nullptr || id != llvm::Intrinsic::roundeven) return b.CreateUnaryIntrinsic(id, floats);
  llvm::Value* result = llvm::PoisonValue::get(floats->getType());
  for (std::uint64_t lane = 0; lane < vector->getNumElements(); ++lane)
    result = b.CreateInsertElement(result, b.CreateUnaryIntrinsic(id, b.CreateExtractElement(floats, lane)), lane);
  return result;
}

}  // namespace

void round_halves_as_floats(llvm::Module& module) {
  llvm::SmallVector<llvm::IntrinsicInst*, 16> found;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
          call != nullptr && call->getType()->getScalarType()->isHalfTy() &&
          std::ranges::find(kRoundings, call->getIntrinsicID()) != std::end(kRoundings))
        found.push_back(call);
  for (llvm::IntrinsicInst* call : found) {
    llvm::IRBuilder<> b(call);
    llvm::Type* const type = call->getType();
    llvm::Value* const floats = b.CreateFPExt(call->getArgOperand(0), type->getWithNewType(b.getFloatTy()));
    call->replaceAllUsesWith(b.CreateFPTrunc(rounded(b, call->getIntrinsicID(), floats), type));
    call->eraseFromParent();
  }
}

}  // namespace ferry::codegen
