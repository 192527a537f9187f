// LLVM's optimiser, with a pipeline of our own: loops arrive in the shape the schedule gave them (tiled, unrolled,
// vectorised), so what is left is registers for small arrays, common subexpressions, hoisting and address arithmetic.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace ferry::codegen {

void optimise(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace ferry::codegen
