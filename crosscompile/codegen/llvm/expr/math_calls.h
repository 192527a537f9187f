// Emits calls: functions of ferry/math.def, operations that have a value, and external C functions. A function that is
// an instruction of the target becomes an LLVM intrinsic; the others call the runtime's libm, lane by lane.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

llvm::Value* emit_call(FunctionState& state, const ir::Call& node, llvm::ArrayRef<llvm::Value*> arguments);

}  // namespace ferry::codegen
