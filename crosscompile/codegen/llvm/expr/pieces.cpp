#include "crosscompile/codegen/llvm/expr/pieces.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Instructions.h>

namespace ferry::codegen {

llvm::Value* piece_of(FunctionState& state, llvm::Value* vector, std::uint32_t first, std::uint32_t count) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
  if (first == 0 && count == lanes) return vector;
  if (const auto* whole = llvm::dyn_cast<llvm::ShuffleVectorInst>(vector); whole != nullptr && whole->isConcat()) {
    const unsigned half = lanes / 2;
    if (first + count <= half) return piece_of(state, whole->getOperand(0), first, count);
    if (first >= half) return piece_of(state, whole->getOperand(1), first - half, count);
  }
  llvm::SmallVector<int, 64> order;
  for (std::uint32_t i = first; i < first + count; ++i) order.push_back(i < lanes ? static_cast<int>(i) : -1);
  return state.builder.CreateShuffleVector(vector, order);
}

llvm::Value* joined(FunctionState& state, llvm::ArrayRef<llvm::Value*> pieces, std::uint32_t lanes) {
  return piece_of(state, llvm::concatenateVectors(state.builder, pieces), 0, lanes);
}

}  // namespace ferry::codegen
