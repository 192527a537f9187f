// Keeps sums in AMX's tile registers while loops add to them:
//
//     for n: sums[n] = 0                 tile_sums(sums, starts at 0) {
//     for k                                for n: sums[n] = 0
//       tile_dot(sums, a[k], b[k])   ->    for k
//                                            tile_dot(sums, a[k], b[k])
//                                        }
//
// Runs after unroll_loops and simplify_loops, so that what becomes of a loop over the depth is one statement, or
// several in one block, and before vectorize, which would replace the loops that store zeros.
#pragma once

#include "crosscompile/ir/function.h"

namespace ferry::passes {

// Afterwards each tile_dot is in the definition of one tile_sums.
ir::Function tile_sums(ir::Function function);

}  // namespace ferry::passes
