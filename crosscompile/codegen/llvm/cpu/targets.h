// Looks up LLVM's target for a triple. Only for files that may include LLVM.
#pragma once

#include <llvm/MC/TargetRegistry.h>
#include <llvm/TargetParser/Triple.h>

#include <string>

namespace ferry::codegen {

// Returns LLVM's target; registers all of them on first use. Throws InternalError when there is none for this triple.
const llvm::Target& llvm_target(const std::string& triple);
// Returns whether LLVM has a target for this triple.
bool has_llvm_target(const std::string& triple);

}  // namespace ferry::codegen
