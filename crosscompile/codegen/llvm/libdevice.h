// CUDA's math functions, which come as LLVM bitcode.
#pragma once

#include "crosscompile/target/target.h"

#include <llvm/IR/Module.h>

#include <string>

namespace ferry::codegen {

// Of a function of the C library, "expf" or "exp". CompileError where the target has no libdevice.
std::string libdevice_symbol(const Target& target, const std::string& function);

// Puts what the module calls into it, from the file.
void link_libdevice(llvm::Module& module, const std::string& file);

}  // namespace ferry::codegen
