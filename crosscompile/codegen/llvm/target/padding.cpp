#include "crosscompile/codegen/llvm/target/padding.h"

#include "crosscompile/codegen/llvm/target/machine.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>

#include <string>

namespace ferry::codegen {

std::vector<std::uint8_t> emit_padding(const Target& target, std::uint32_t bytes) {
  llvm::LLVMContext context;
  llvm::Module module("padding", context);
  const std::unique_ptr<llvm::TargetMachine> machine = make_machine(target);
  configure_module(module, *machine, target);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, kPaddingSymbol, module);
  const std::vector<std::uint8_t> zeros(bytes);
  function->setPrefixData(llvm::ConstantDataArray::get(context, zeros));
  llvm::IRBuilder<>(llvm::BasicBlock::Create(context, "", function)).CreateRetVoid();
  const std::string object = emit_file(module, *machine, llvm::CodeGenFileType::ObjectFile);
  return {object.begin(), object.end()};
}

}  // namespace ferry::codegen
