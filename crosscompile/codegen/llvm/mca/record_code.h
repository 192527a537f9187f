// Generates a module's machine code and keeps its instructions by loops, in place of writing an object. Only for files
// that may include LLVM.
#pragma once

#include "crosscompile/codegen/llvm/mca/code_loops.h"

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

namespace ferry::codegen {

// The module is optimised. `function` is its function that a call runs.
CodeLoops record_code(llvm::Module& module, llvm::TargetMachine& machine, const std::string& function);

}  // namespace ferry::codegen
