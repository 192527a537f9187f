#include "crosscompile/codegen/llvm/cpu/targets.h"

#include "crosscompile/ir/error.h"

#include <llvm/Support/TargetSelect.h>

#include <mutex>

namespace ferry::codegen {
namespace {

// Programs that contain LLVM have these targets alone (cmake/llvm.cmake).
#define FERRY_REGISTER_TARGET(NAME)   \
  LLVMInitialize##NAME##TargetInfo(); \
  LLVMInitialize##NAME##Target();     \
  LLVMInitialize##NAME##TargetMC();   \
  LLVMInitialize##NAME##AsmPrinter()
#define FERRY_REGISTER_ASSEMBLER(NAME) \
  LLVMInitialize##NAME##AsmParser();   \
  LLVMInitialize##NAME##Disassembler()

void register_targets() {
  FERRY_REGISTER_TARGET(AArch64);
  FERRY_REGISTER_ASSEMBLER(AArch64);
  FERRY_REGISTER_TARGET(ARM);
  FERRY_REGISTER_ASSEMBLER(ARM);
  FERRY_REGISTER_TARGET(NVPTX);
  FERRY_REGISTER_TARGET(RISCV);
  FERRY_REGISTER_ASSEMBLER(RISCV);
  FERRY_REGISTER_TARGET(X86);
  FERRY_REGISTER_ASSEMBLER(X86);
}

const llvm::Target* lookup(const std::string& triple, std::string& error) {
  static std::once_flag once;
  std::call_once(once, register_targets);
  return llvm::TargetRegistry::lookupTarget(triple, error);
}

}  // namespace

bool has_llvm_target(const std::string& triple) {
  std::string error;
  return lookup(triple, error) != nullptr;
}

const llvm::Target& llvm_target(const std::string& triple) {
  std::string error;
  const llvm::Target* target = lookup(triple, error);
  if (target == nullptr) throw InternalError("LLVM has no target for " + triple + ": " + error);
  return *target;
}

}  // namespace ferry::codegen
