#include "crosscompile/codegen/llvm/cpu/targets.h"

#include "crosscompile/ir/error.h"

#include <llvm/Support/TargetSelect.h>

#include <mutex>

namespace ferry::codegen {
namespace {

template <class... Functions>
void call_all(Functions... functions) {
  (functions(), ...);
}

void register_targets() {
#define FERRY_INITIALIZE(arch)                                                                             \
  call_all(LLVMInitialize##arch##TargetInfo, LLVMInitialize##arch##Target, LLVMInitialize##arch##TargetMC, \
           LLVMInitialize##arch##AsmPrinter, LLVMInitialize##arch##AsmParser)
  FERRY_INITIALIZE(X86);
  FERRY_INITIALIZE(ARM);
  FERRY_INITIALIZE(AArch64);
  FERRY_INITIALIZE(RISCV);
#undef FERRY_INITIALIZE
  // There is no assembler for PTX in LLVM.
  call_all(LLVMInitializeNVPTXTargetInfo, LLVMInitializeNVPTXTarget, LLVMInitializeNVPTXTargetMC,
           LLVMInitializeNVPTXAsmPrinter);
}

}  // namespace

const llvm::Target& llvm_target(const std::string& triple) {
  static std::once_flag once;
  std::call_once(once, register_targets);
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) throw InternalError("LLVM has no target for " + triple + ": " + error);
  return *target;
}

}  // namespace ferry::codegen
