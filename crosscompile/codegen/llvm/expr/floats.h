// Emits float arithmetic: every operation rounds once, a multiplication may be contracted with the addition that uses
// it, and min and max return NaN when either side is NaN.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

llvm::Value* emit_float_binary(FunctionState& state, const ir::Binary& node, llvm::Value* left, llvm::Value* right);

// Emits min or max of two arbitrary values of a float type.
llvm::Value* nan_keeping(FunctionState& state, bool smaller, llvm::Value* left, llvm::Value* right);

}  // namespace ferry::codegen
