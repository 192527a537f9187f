// Rounds narrow floats to integers as f32 on 32-bit ARM.
//
// The optimiser removes the conversions around floor, ceil, trunc, round and round_even, so that these work on halves.
// LLVM 19 does not select all of them there, although the instructions exist.
#pragma once

#include <llvm/IR/Module.h>

namespace ferry::codegen {

// Runs after optimise(), for 32-bit ARM that computes with halves.
void round_halves_as_floats(llvm::Module& module);

}  // namespace ferry::codegen
