// "scale" of f32: times a power of two, by the instruction that passes/lower_math counts on.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

llvm::Value* emit_scale(FunctionState& state, llvm::Value* value, llvm::Value* exponent);

}  // namespace ferry::codegen
