#include "crosscompile/codegen/llvm/target/llvm_version.h"

#include <llvm-c/Core.h>
#include <llvm/Config/llvm-config.h>

namespace ferry::codegen {

std::string llvm_version() {
  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  const std::string loaded = std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  const std::string built_with = LLVM_VERSION_STRING;
  return loaded == built_with ? loaded : loaded + ", built with " + built_with;
}

}  // namespace ferry::codegen
