// Replaces every unrolled loop of constant extent by copies of its body, one per iteration, in order. A loop whose
// extent is not constant, or above kMaxUnrolled, becomes serial: the copies would cost more than they save.
//
// Runs after partition_loops, so that it copies only loops whose guards are gone or must stay, and before vectorize, so
// that indices into small local arrays are constants, which lets the arrays become registers.
#pragma once

#include "crosscompile/ir/function.h"

namespace ferry::passes {

inline constexpr std::int64_t kMaxUnrolled = 256;

ir::Function unroll_loops(ir::Function function);

}  // namespace ferry::passes
