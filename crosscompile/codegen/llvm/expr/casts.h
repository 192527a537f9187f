// Conversions between all element types, saturating as ferry/expr.h defines.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

llvm::Value* emit_cast(FunctionState& state, ir::Type from, ir::Type to, llvm::Value* value);
// Reinterprets the bits as another type of the same width.
llvm::Value* emit_bitcast(FunctionState& state, ir::Type to, llvm::Value* value);

}  // namespace ferry::codegen
