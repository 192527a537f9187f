// Emits CallOp::scale of f32, a multiplication by a power of two, as the instruction that passes/lower_math relies on.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

llvm::Value* emit_scale(FunctionState& state, llvm::Value* value, llvm::Value* exponent);

}  // namespace ferry::codegen
