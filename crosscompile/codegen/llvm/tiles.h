// Emits products of AMX's tile registers (passes/tensorize/tile_dot.h). Loading a configuration takes about as long as
// twelve products of tiles, so it is loaded only where the shape of the tiles differs from that before.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

void emit_tile_sums(FunctionState& state, const ir::InstructionStmt& node);
// Emits the products of a tile_dot inside of a tile_sums, whose sums are in registers.
void emit_tile_dot(FunctionState& state, const ir::InstructionStmt& node);

// Notes that code which was called may have changed the configuration.
void forget_tiles(FunctionState& state);
// Releases the tiles wherever the finished function returns, if it has used any: the system need not save them then.
void release_tiles(FunctionState& state);

}  // namespace ferry::codegen
