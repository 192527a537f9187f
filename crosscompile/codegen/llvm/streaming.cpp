#include "crosscompile/codegen/llvm/streaming.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsX86.h>

namespace ferry::codegen {
namespace {

constexpr std::uint64_t kMinBytes = 16;

bool can_stream(const llvm::StoreInst& store, const llvm::DataLayout& layout) {
  const std::uint64_t bytes = layout.getTypeStoreSize(store.getValueOperand()->getType());
  return bytes >= kMinBytes && store.getAlign().value() >= bytes;
}

// Whether any store is left that streams.
bool keep_what_can(llvm::Function& function, bool has_streaming_stores) {
  bool any = false;
  for (llvm::BasicBlock& block : function) {
    for (llvm::Instruction& instruction : block) {
      auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      if (store == nullptr || store->getMetadata(llvm::LLVMContext::MD_nontemporal) == nullptr) continue;
      const bool keeps = has_streaming_stores && can_stream(*store, function.getParent()->getDataLayout());
      if (!keeps) store->setMetadata(llvm::LLVMContext::MD_nontemporal, nullptr);
      any = any || keeps;
    }
  }
  return any;
}

}  // namespace

void mark_streaming(llvm::Instruction* store) {
  llvm::LLVMContext& context = store->getContext();
  auto* yes = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), 1);
  store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(yes)));
}

void finish_streaming(llvm::Module& module, bool has_streaming_stores) {
  for (llvm::Function& function : module) {
    if (!keep_what_can(function, has_streaming_stores)) continue;
    for (llvm::BasicBlock& block : function) {
      auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator());
      if (end != nullptr) llvm::IRBuilder<>(end).CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
    }
  }
}

}  // namespace ferry::codegen
