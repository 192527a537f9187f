// Emits parallel loops: the body becomes a function int32_t(int64_t begin, int64_t end, void* closure) that the runtime
// calls from several threads, and a struct holds the values that it uses.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

void emit_parallel(FunctionState& state, const ir::For& node);

}  // namespace ferry::codegen
