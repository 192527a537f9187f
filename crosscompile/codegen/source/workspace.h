// Memory that lasts as long as a statement: arrays, and places in the workspaces that the runtime holds ready.
#pragma once

#include "crosscompile/codegen/source/state.h"

namespace ferry::codegen::source {

void print_allocate(FunctionState& state, const ir::Allocate& node);
// Asks the runtime for the blocks that the body will point into.
void print_workspace_blocks(FunctionState& state, const ir::Stmt& body);
// What of the blocks a body needs; of parallel loops inside only what they take from outside.
struct BlockUse {
  bool call = false, thread = false;
};
BlockUse block_use(const ir::Stmt& body, bool in_parallel);

}  // namespace ferry::codegen::source
