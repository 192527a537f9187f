// Replaces every vectorized loop of constant extent by vector nodes: the loop variable becomes a Ramp, expressions that
// depend on it become vectors with as many lanes, and everything else stays scalar until a vector needs it.
//
// - A buffer allocated inside gets an innermost dimension of lanes.
// - A condition that differs between lanes becomes the mask of the loads and stores under it. Masked stores to memory
//   exist only where the target has masks; elsewhere such a statement stays a serial loop over the lanes. Masks on
//   Scope::local buffers exist on every target: there they are selects, not memory accesses.
// - element = element op value, with an element that all lanes share, becomes a VectorReduce.
// - Loops inside remain loops, of vectors.
// - Loops wider than kMaxVectorRegisters registers of 32-bit elements are split into vectors of that size.
//
// A statement without a vector form (an inner loop whose trip count differs between lanes, a call with a side effect)
// becomes a serial loop over the lanes; so does the whole loop when its iterations are not independent of each other.
//
// Requires simplified, partitioned and unrolled code (remaining guards become masks) with multi-dimensional indices.
// Runs before legalize_floats and plan_workspace, which work on vectors and on the widened buffers.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/target/target.h"

namespace ferry::passes {

inline constexpr std::uint32_t kMaxVectorRegisters = 16;

ir::Function vectorize(ir::Function function, const Target& target);

}  // namespace ferry::passes
