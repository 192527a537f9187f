#include "crosscompile/codegen/llvm/memory/nontemporal.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace ferry::codegen {
namespace {

constexpr std::uint64_t kMinBytes = 16;

bool is_nontemporal_store(const llvm::Instruction& instruction) {
  return llvm::isa<llvm::StoreInst>(instruction) &&
         instruction.getMetadata(llvm::LLVMContext::MD_nontemporal) != nullptr;
}

std::vector<llvm::StoreInst*> nontemporal_stores(llvm::Function& function) {
  std::vector<llvm::StoreInst*> stores;
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& instruction : block)
      if (is_nontemporal_store(instruction)) stores.push_back(llvm::cast<llvm::StoreInst>(&instruction));
  return stores;
}

// Splits the store into a non-temporal one, if its address turns out to be aligned at run time, and an ordinary one.
void choose_when_run(llvm::StoreInst* store, std::uint64_t alignment) {
  llvm::IRBuilder<> b(store);
  llvm::Type* address = store->getModule()->getDataLayout().getIntPtrType(store->getContext());
  llvm::Value* offset = b.CreateAnd(b.CreatePtrToInt(store->getPointerOperand(), address), alignment - 1);
  llvm::Value* is_aligned = b.CreateICmpEQ(offset, llvm::ConstantInt::get(address, 0));
  llvm::Instruction *aligned = nullptr, *unaligned = nullptr;
  llvm::SplitBlockAndInsertIfThenElse(is_aligned, store, &aligned, &unaligned);
  auto* nontemporal = llvm::cast<llvm::StoreInst>(store->clone());
  nontemporal->setAlignment(llvm::Align(alignment));
  nontemporal->insertBefore(aligned);
  store->moveBefore(unaligned);
  store->setMetadata(llvm::LLVMContext::MD_nontemporal, nullptr);
}

// Keeps the non-temporal stores that are possible; returns whether any is left.
bool keep_what_can(llvm::Function& function, std::uint64_t vector_bytes) {
  bool any = false;
  for (llvm::StoreInst* store : nontemporal_stores(function)) {
    const std::uint64_t bytes =
        function.getParent()->getDataLayout().getTypeStoreSize(store->getValueOperand()->getType());
    const std::uint64_t alignment = std::min(bytes, vector_bytes);
    if (alignment < kMinBytes || !std::has_single_bit(alignment)) {
      store->setMetadata(llvm::LLVMContext::MD_nontemporal, nullptr);
      continue;
    }
    any = true;
    // The rows of a tensor whose sizes are known only at the call may start anywhere, but mostly start at whole
    // vectors.
    if (store->getAlign().value() < alignment) choose_when_run(store, alignment);
  }
  return any;
}

}  // namespace

void mark_nontemporal(llvm::Instruction* store) {
  llvm::LLVMContext& context = store->getContext();
  auto* yes = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), 1);
  store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(yes)));
}

void fence_nontemporal_stores(llvm::Module& module, std::uint32_t vector_bytes) {
  for (llvm::Function& function : module) {
    if (!keep_what_can(function, vector_bytes)) continue;
    for (llvm::BasicBlock& block : function) {
      auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator());
      if (end != nullptr) llvm::IRBuilder<>(end).CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
    }
  }
}

}  // namespace ferry::codegen
