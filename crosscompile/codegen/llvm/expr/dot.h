// Emits CallOp::dot as an instruction of passes/tensorize/dot_instructions.h, or as multiplications and additions.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

llvm::Value* emit_dot(FunctionState& state, const ir::Call& node);

}  // namespace ferry::codegen
