// Runs LLVM's optimiser with a custom pipeline: loops already have the structure that the schedule chose (tiled,
// unrolled, vectorised), so what remains is registers for small arrays, common subexpressions, hoisting and address
// arithmetic.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

namespace ferry::codegen {

// `first`: module passes that run before the pipeline, in LLVM's notation, with a comma at the end.
void optimise(llvm::Module& module, llvm::TargetMachine& machine, const std::string& first = {});

}  // namespace ferry::codegen
