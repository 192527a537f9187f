// Masks of loop tails and padding compare a ramp of 64-bit indices with one limit. How far the limit lies behind the
// ramp's start says the same in 32 bits and less: half the registers, and what instructions for masks are made for.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

// The mask, or null when the comparison is not of this kind or might wrap.
llvm::Value* emit_lane_compare(FunctionState& state, const ir::Binary& node);

}  // namespace ferry::codegen
