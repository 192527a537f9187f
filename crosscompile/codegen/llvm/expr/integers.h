// Emits integer and bool arithmetic as ferry/expr.h defines it for every input: LLVM's own operations are undefined for
// division by zero and for shifts beyond the width.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

// Both sides have an integer or bool type; `left` and `right` are the values of node.left and node.right.
llvm::Value* emit_int_binary(FunctionState& state, const ir::Binary& node, llvm::Value* left, llvm::Value* right);

}  // namespace ferry::codegen
