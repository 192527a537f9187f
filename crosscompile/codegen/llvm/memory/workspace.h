// Emits the memory that a kernel's body allocates: small arrays on the stack, which become registers where every index
// is a constant, and parts of the runtime's workspace blocks.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

void emit_allocate(FunctionState& state, const ir::Allocate& node);

// Requests the blocks that `body` uses itself from the runtime; parallel loops in it (unless they run inside `state`)
// request their own thread block.
void emit_workspace_blocks(FunctionState& state, const ir::Stmt& body);

}  // namespace ferry::codegen
