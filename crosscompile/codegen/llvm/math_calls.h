// Calls: functions of ir/math.def, "bitcast", and external C functions. What the target has as an instruction is an
// LLVM intrinsic, the rest calls the runtime's libm, lane by lane.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

llvm::Value* emit_call(FunctionState& state, const ir::Call& node, llvm::ArrayRef<llvm::Value*> arguments);

}  // namespace ferry::codegen
