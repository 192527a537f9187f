// LLVM's tables for one triple. Only for files that may include LLVM.
#pragma once

#include <llvm/MC/TargetRegistry.h>
#include <llvm/TargetParser/Triple.h>

#include <string>

namespace ferry::codegen {

// Registers all of LLVM's targets on first use. Throws InternalError when it has none for this triple.
const llvm::Target& llvm_target(const std::string& triple);
// Whether it has one.
bool has_llvm_target(const std::string& triple);

}  // namespace ferry::codegen
