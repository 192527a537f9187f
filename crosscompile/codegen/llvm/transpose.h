// Stores that only together fill consecutive memory: a tile is turned in registers and stored row by row.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

#include <span>

namespace ferry::codegen {

// Emits the stores of vectors whose lanes lie apart that `statements` begin with, and returns how many those were.
// Where they fill memory without gaps, as unrolling the other axis leaves them,
//
//     D[b + 0 + s * lanes] = V0; D[b + 1 + s * lanes] = V1; ...
//
// each lane of all the vectors becomes one stretch of memory.
std::size_t emit_strided_stores(FunctionState& state, std::span<const ir::Stmt> statements);

}  // namespace ferry::codegen
