// Keeps choices between narrow floats what they were: moves of bits.
//
// The optimiser takes the conversions around a comparison and a choice away: both are then of narrow floats. LLVM's
// code generators make minima and maxima of those, by way of fminf and fmaxf, where the target has no such
// instructions.
#pragma once

#include <llvm/IR/Module.h>

namespace ferry::codegen {

// After optimise(), for targets that convert halves but do not compute with them.
void select_halves_as_bits(llvm::Module& module);

}  // namespace ferry::codegen
