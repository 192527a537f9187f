// What a statement uses of the function around it.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

// In order of first use, so that the same input makes the same code.
struct LiveValues {
  std::vector<const ir::Buffer*> buffers;
  std::vector<const ir::ExprNode*> variables;
};

LiveValues live_values(const FunctionState& state, const ir::Stmt& stmt);

}  // namespace ferry::codegen
