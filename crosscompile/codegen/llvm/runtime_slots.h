// Emits calls through the runtime's table, laid out as in ferry/runtime_api.h.
#pragma once

#include "crosscompile/codegen/llvm/state.h"
#include "ferry/runtime_api.h"

namespace ferry::codegen {

// Positions of the fields of ferry_runtime_api.
enum class RuntimeSlot : unsigned { parallel_for = 2, workspace = 3 };

// Passes the table itself, followed by `arguments`.
llvm::CallInst* call_runtime(FunctionState& state, RuntimeSlot slot, llvm::ArrayRef<llvm::Value*> arguments);

}  // namespace ferry::codegen
