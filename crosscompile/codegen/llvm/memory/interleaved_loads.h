// Interleaved access groups: strided loads that together read every element of a range, as windows with a stride and
// deinterleaving do. Each vector of the range is loaded once and serves all of them.
//
//     A[ramp(i, 2, 16)], A[ramp(i + 1, 2, 16)]      ->      two loads and two shuffles instead of four loads and two
#pragma once

#include "crosscompile/codegen/llvm/state.h"

#include <span>

namespace ferry::codegen {

// Finds the loads that share a range in the stores at the beginning of `statements`. Either all of these stores execute
// or none, so the elements that one of them reads exist for the others too. Replaces state.interleaved_loads and
// returns the number of these stores.
std::size_t find_interleaved_loads(FunctionState& state, std::span<const ir::Stmt> statements);

}  // namespace ferry::codegen
