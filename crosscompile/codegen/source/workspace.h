// Prints allocations: arrays, and places in the workspaces that the runtime provides.
#pragma once

#include "crosscompile/codegen/source/state.h"

namespace ferry::codegen::source {

void print_allocate(FunctionState& state, const ir::Allocate& node);
// Requests the blocks that the body points into from the runtime.
void print_workspace_blocks(FunctionState& state, const ir::Stmt& body);
// The blocks that a body needs; parallel loops inside count only for what they take from outside.
struct BlockUse {
  bool call = false, thread = false;
};
BlockUse block_use(const ir::Stmt& body, bool in_parallel);

}  // namespace ferry::codegen::source
