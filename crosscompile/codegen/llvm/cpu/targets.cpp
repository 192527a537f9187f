#include "crosscompile/codegen/llvm/cpu/targets.h"

#include "crosscompile/ir/error.h"

#include <llvm/Support/TargetSelect.h>

#include <mutex>

namespace ferry::codegen {
namespace {

void register_targets() {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  llvm::InitializeAllAsmParsers();
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
