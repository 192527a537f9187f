// How much work an iteration of a parallel loop is, so that the runtime does not hand out pieces that cost less than
// handing them out.
#pragma once

#include "crosscompile/ir/stmt.h"
#include "crosscompile/target/target.h"

namespace ferry::passes {

// About as many operations as take a few microseconds: more than waking a thread.
inline constexpr std::int64_t kWorkPerChunk = 16384;

// Of one iteration, in operations of about a cycle: an expression of type kIndex over variables defined outside the
// loop.
ir::Expr work_of_iteration(const ir::For& loop, const Target& target);

}  // namespace ferry::passes
