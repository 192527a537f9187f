// Links CUDA's math functions, which are LLVM bitcode.
#pragma once

#include "ferry/target/target.h"

#include <llvm/IR/Module.h>

#include <string>

namespace ferry::codegen {

// Returns the symbol for a function of the C library, "expf" or "exp". Throws CompileError where the target has no
// libdevice.
std::string libdevice_symbol(const Target& target, const std::string& function);

// Links the functions that the module calls from the file into it.
void link_libdevice(llvm::Module& module, const std::string& file);

}  // namespace ferry::codegen
