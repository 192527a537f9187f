#include "crosscompile/codegen/llvm/plan/messages.h"

#include <algorithm>

namespace ferry::codegen {
namespace {

// From the lowest code to 0.
std::vector<std::string> common_messages() {
  std::vector<std::string> messages;
#define FERRY_MESSAGE(code, name, message) messages.emplace_back(message);
  FERRY_EXPORT_ERRORS(FERRY_MESSAGE)
#undef FERRY_MESSAGE
  std::ranges::reverse(messages);
  messages.emplace_back("success");
  return messages;
}

llvm::GlobalVariable* table(llvm::Module& module, llvm::Constant* contents) {
  auto* variable =
      new llvm::GlobalVariable(module, contents->getType(), true, llvm::GlobalValue::PrivateLinkage, contents);
  variable->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  return variable;
}

}  // namespace

void return_if(llvm::IRBuilder<>& b, llvm::Value* condition, llvm::Value* result) {
  llvm::Function* function = b.GetInsertBlock()->getParent();
  auto* refused = llvm::BasicBlock::Create(b.getContext(), "refused", function);
  auto* next = llvm::BasicBlock::Create(b.getContext(), "next", function);
  b.CreateCondBr(condition, refused, next);
  b.SetInsertPoint(refused);
  b.CreateRet(result);
  b.SetInsertPoint(next);
}

void emit_message(llvm::Function* function, const std::vector<std::string>& positive) {
  llvm::Module& module = *function->getParent();
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(module.getContext(), "entry", function));
  std::vector<std::string> messages = common_messages();
  const std::size_t zero = messages.size() - 1;
  messages.insert(messages.end(), positive.begin(), positive.end());
  messages.emplace_back("unknown code");
  // Offsets rather than addresses need no relocations.
  std::string all;
  std::vector<std::uint32_t> offsets;
  for (const std::string& message : messages) {
    offsets.push_back(static_cast<std::uint32_t>(all.size()));
    all += message + '\0';
  }
  llvm::GlobalVariable* text = table(module, llvm::ConstantDataArray::getString(module.getContext(), all, false));
  llvm::GlobalVariable* places = table(module, llvm::ConstantDataArray::get(module.getContext(), offsets));
  llvm::Value* index = b.CreateAdd(function->getArg(0), b.getInt32(static_cast<std::uint32_t>(zero)));
  llvm::Value* last = b.getInt32(static_cast<std::uint32_t>(messages.size() - 1));
  index = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, index, last);
  llvm::Value* place = b.CreateGEP(b.getInt32Ty(), places, b.CreateZExt(index, b.getInt64Ty()));
  llvm::Value* offset = b.CreateZExt(b.CreateLoad(b.getInt32Ty(), place), b.getInt64Ty());
  b.CreateRet(b.CreateGEP(b.getInt8Ty(), text, offset));
}

}  // namespace ferry::codegen
