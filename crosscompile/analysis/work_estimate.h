// Estimates the work in an iteration of a parallel loop, so that the runtime does not distribute chunks whose work
// costs less than distributing them.
#pragma once

#include "crosscompile/ir/stmt.h"
#include "ferry/target/target.h"

namespace ferry::analysis {

// About as many operations as take a few microseconds, which is more than waking a thread takes.
inline constexpr std::int64_t kWorkPerChunk = 16384;

// Returns the work of one iteration, in operations of about a cycle: an expression of type kIndex over variables
// defined outside of the loop.
ir::Expr work_of_iteration(const ir::For& loop, const Target& target);

}  // namespace ferry::analysis
