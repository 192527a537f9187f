// Reduces the lanes of a vector.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

llvm::Value* emit_vector_reduce(FunctionState& state, const ir::VectorReduce& node, llvm::Value* value);

}  // namespace ferry::codegen
