// Turns selects between narrow floats back into moves of bits.
//
// The optimiser removes the conversions around a comparison and a select, so that both work on narrow floats. LLVM's
// code generators turn those into minima and maxima, which become calls of fminf and fmaxf where the target has no such
// instructions.
#pragma once

#include <llvm/IR/Module.h>

namespace ferry::codegen {

// Runs after optimise(), for targets that convert halves but do not compute with them.
void select_halves_as_bits(llvm::Module& module);

}  // namespace ferry::codegen
