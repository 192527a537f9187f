// Takes conditions out of the loops that run most: a loop whose body tests something that is certain for most
// iterations (the guard of a split's tail, the border of a padded tensor) is cut into a range where it is certain,
// without the test, and the iterations before and after, with it.
//
//     for (xo = 0; xo < (n + 7) / 8; ++xo)             for (xo = 0; xo < n / 8; ++xo)
//       for (xi = 0; xi < 8; ++xi) [vectorized]          for (xi = 0; xi < 8; ++xi) [vectorized]
//         if (xo * 8 + xi < n)                             out[xo * 8 + xi] = ...
//           out[xo * 8 + xi] = ...              ->     for (xo = n / 8; xo < (n + 7) / 8; ++xo)
//                                                        for (xi = 0; xi < min(8, n - xo * 8); ++xi)
//                                                          out[xo * 8 + xi] = ...
//
// Serial loops are cut. A parallel loop stays one loop, since two would start and wait for the threads twice: its body
// is doubled under one test an iteration instead. So are the bodies of loops in whose variable the test is not linear
// (fused loops) and vectorized and unrolled loops as a whole. A vectorized loop with a border at fixed lanes, such as a
// whole row of a padded image, loses these lanes to serial loops, so that the others need no tests. In a tail, a
// vectorized loop keeps its guard, to become a masked vector, where the target has masks, and becomes a shorter serial
// loop where it has not.
//
// Before: simplified, so that tests which always hold are gone. Multi-dimensional indices.
// Stands first because unroll_loops and vectorize make copies and masks of every guard they meet.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"

namespace ferry::passes {

// What would make a function larger than this keeps its guards. The part of a loop that runs most is served first.
// Where the target has no masks, vectorized loops whose stores are guarded are doubled all the same: the alternative is
// no vector.
struct PartitionLimits {
  std::size_t times_as_large = 8;
  std::size_t always_allowed = 500;  // nodes: small functions may grow more
};

ir::Function partition_loops(ir::Function function, const Target& target, const PartitionLimits& limits = {});

}  // namespace ferry::passes
