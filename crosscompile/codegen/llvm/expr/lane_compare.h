// Masks of loop tails and padding compare a ramp of 64-bit indices with one limit. Comparing the lane numbers with the
// distance from the ramp's start to the limit is equivalent and needs 32 bits or fewer: half the registers, and the
// form that mask instructions are made for.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

// Returns the mask, or null when the comparison is not of this kind or might wrap.
llvm::Value* emit_lane_compare(FunctionState& state, const ir::Binary& node);

}  // namespace ferry::codegen
