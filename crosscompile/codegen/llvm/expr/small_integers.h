// Converts vectors of integers of at most four bits to f32, by looking them up in a register.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

// Returns the floats if the value is `x & mask` with a mask of at most 15, and the target has an instruction that looks
// up 16 floats; null otherwise. The instruction reads the low four bits of each index alone, so it takes the place of
// the mask and of the conversion.
llvm::Value* emit_small_integers(FunctionState& state, llvm::Value* value);

}  // namespace ferry::codegen
