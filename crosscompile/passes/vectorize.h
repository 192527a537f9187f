// Replaces every vectorized loop of constant extent by vector nodes: the loop variable becomes a Ramp, what depends on
// it vectors of as many lanes, everything else stays scalar until a vector needs it.
//
// - A buffer allocated inside gets an innermost dimension of lanes.
// - A condition that differs between lanes becomes the mask of the loads and stores under it. A masked store to memory
//   is only made where the target has masks; elsewhere that statement stays a serial loop over the lanes. Masks on
//   Scope::local buffers are made on every target: there they are selects, not memory accesses.
// - element = element op value, with an element that all lanes share, becomes a VectorReduce.
// - Loops inside keep being loops, of vectors.
// - Loops wider than kMaxVectorRegisters registers of 32-bit elements are cut into vectors of that size.
//
// A statement that has no vector form (a loop inside with another length in each lane, a call for its effect) becomes a
// serial loop over the lanes; so does the whole loop when its iterations are not independent of each other.
//
// Before: simplified, unrolled, partitioned (what is left of guards becomes masks). Multi-dimensional indices.
// Stands before legalize_floats and plan_workspace, which work on vectors and on the widened buffers.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"

namespace ferry::passes {

inline constexpr std::uint32_t kMaxVectorRegisters = 16;

ir::Function vectorize(ir::Function function, const Target& target);

}  // namespace ferry::passes
