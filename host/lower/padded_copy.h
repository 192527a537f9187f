// Copies of tensors, such as packed operands, whose memory has room for whole vectors. Lanes beyond the last element of
// the tensor store 0 there, so that a stage that reads the copy needs no guards for its own lanes.
#pragma once

#include "crosscompile/analysis/affine.h"
#include "host/lower/nest_loops.h"

#include <span>
#include <vector>

namespace ferry::lower {

// Whether a guard differs between lanes.
bool is_lane_guard(const Expr& guard, const std::vector<LoopCopy>& loops);

// Returns those guards of a stage beyond which it stores 0. `loops` must be those of the nest.
std::vector<Expr> padded_guards(const Nest& nest, const NestLoops& loops);

// Whether a load reads a copy that has an element for every iteration of the loops, those included where the guard
// fails.
bool is_padded(const Nests& nests, const ir::Load& load, const Expr& guard, std::span<const analysis::Range> loops);

}  // namespace ferry::lower
