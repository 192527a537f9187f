// Removes conditions from the loops that run most: a loop whose body tests a condition that is certain for most
// iterations (the guard of a split's tail, the border of a padded tensor) is split into a steady state, where the
// outcome is certain, without the test, and a prologue and an epilogue, with it.
//
//     for (xo = 0; xo < (n + 7) / 8; ++xo)             for (xo = 0; xo < n / 8; ++xo)
//       for (xi = 0; xi < 8; ++xi) [vectorized]          for (xi = 0; xi < 8; ++xi) [vectorized]
//         if (xo * 8 + xi < n)                             out[xo * 8 + xi] = ...
//           out[xo * 8 + xi] = ...              ->     for (xo = n / 8; xo < (n + 7) / 8; ++xo)
//                                                        for (xi = 0; xi < min(8, n - xo * 8); ++xi)
//                                                          out[xo * 8 + xi] = ...
//
// Serial loops are split, and those of two iterations also where each has a border of its own. A parallel loop stays
// one loop, since two would start the threads and wait for them twice: its body is versioned under one test per
// iteration instead. So are the bodies of loops in whose variable the test is not linear (fused loops), and vectorized
// and unrolled loops as a whole. A vectorized loop with a border at fixed lanes, such as a whole row of a padded image,
// handles these lanes in serial loops, so that the others need no tests. In a tail, a vectorized loop keeps its guard,
// to become a masked vector, where the target has masks, and otherwise becomes a shorter serial loop.
//
// Requires simplified code, without tests that always hold, and multi-dimensional indices.
// Runs before unroll_loops and vectorize, because these make copies and masks of every guard that they find.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/passes/loops/partition_limits.h"
#include "ferry/target/target.h"

namespace ferry::passes {

// Guards stay where removing them would exceed the limits. The steady state of a loop is processed first. Where the
// target has no masks, vectorized loops whose stores are guarded are versioned regardless of the limits, because
// otherwise they would not be vectorized.
ir::Function partition_loops(ir::Function function, const Target& target, const PartitionLimits& limits = {});

}  // namespace ferry::passes
