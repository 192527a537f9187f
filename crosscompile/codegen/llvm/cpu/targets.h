// LLVM's tables for one triple. Only for files that may include LLVM.
#pragma once

#include <llvm/MC/TargetRegistry.h>
#include <llvm/TargetParser/Triple.h>

#include <string>

namespace ferry::codegen {

// Registers the four architectures and NVPTX on first use. Throws InternalError when this LLVM was built without the
// architecture.
const llvm::Target& llvm_target(const std::string& triple);

}  // namespace ferry::codegen
