// Conversions between all element types, saturating where ir/expr.h says so.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

llvm::Value* emit_cast(FunctionState& state, ir::Type from, ir::Type to, llvm::Value* value);
// The same bits as another type of that width.
llvm::Value* emit_bitcast(FunctionState& state, ir::Type to, llvm::Value* value);

}  // namespace ferry::codegen
