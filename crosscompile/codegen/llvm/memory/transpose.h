// Stores that fill consecutive memory only together: a tile is transposed in registers and stored row by row.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

#include <span>

namespace ferry::codegen {

// Emits the stores of vectors with strided lanes at the beginning of `statements`, and returns their number. Where they
// fill memory without gaps, as unrolling the other axis leaves them,
//
//     D[b + 0 + s * lanes] = V0; D[b + 1 + s * lanes] = V1; ...
//
// each lane of all the vectors becomes one consecutive part of memory.
std::size_t emit_strided_stores(FunctionState& state, std::span<const ir::Stmt> statements);

}  // namespace ferry::codegen
