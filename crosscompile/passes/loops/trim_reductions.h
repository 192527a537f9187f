// Shortens loops that do something in a part of their iterations only: that of a sum whose terms are 0 outside of the
// part, and any whose body an If excludes there.
//
//     for (k = 0; k < n; ++k)                          for (k = max(0, i - 1); k < min(n, i + 2); ++k)
//       for (v = 0; v < 1; ++v) [vectorized]    ->       for (v = 0; v < 1; ++v) [vectorized]
//         acc[v] += k >= i - 1 && k <= i + 1               acc[v] += k >= i - 1 && k <= i + 1
//                   ? X[k] : 0                                       ? X[k] : 0
//
// The part is that of all iterations of the loops inside together, so the condition stays. It needs comparisons that
// are linear in the loop's variable. Adding 0 changes a float only if that is -0: sums of floats are trimmed where the
// function shows that what they are added to is never -0. Guards of the tails that splits leave are left to
// partition_loops. Short loops stay as they are, for unroll_loops.
//
// Requires simplified code. Runs before partition_loops, which removes the condition from the part of the loop in which
// it always holds. For machine code: on a GPU, the threads of a warp would leave such a loop at different times.
#pragma once

#include "crosscompile/ir/function.h"

namespace ferry::passes {

ir::Function trim_reductions(ir::Function function);

}  // namespace ferry::passes
