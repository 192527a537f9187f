// LLVM's optimiser, with a pipeline of our own: loops arrive in the shape the schedule gave them (tiled, unrolled,
// vectorised), so what is left is registers for small arrays, common subexpressions, hoisting and address arithmetic.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

namespace ferry::codegen {

// `first`: passes over the module that stand before, in LLVM's notation, with a comma at the end.
void optimise(llvm::Module& module, llvm::TargetMachine& machine, const std::string& first = {});

}  // namespace ferry::codegen
