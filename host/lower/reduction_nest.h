// The loop nest of a stage that is a reduction.
//
// If the loops over results inside the first reduction loop make a small constant tile, the partial results are kept in
// a local array, so that they can stay in registers:
//
//     for mo, no                      the loops outside the reduction
//       acc[mi, ni] = init            for mi, ni
//       for k                         the loops from the first reduction loop on, in schedule order
//         for mi, ni
//           acc[mi, ni] += ...
//       C[mo*4+mi, no*8+ni] = acc[mi, ni]      for mi, ni
//
// With reduction loops further out, each iteration resumes from the partial results that the previous one has stored in
// C:
//
//     for ko, mo, no
//       acc[mi, ni] = ko == 0 ? init : C[...]      for mi, ni
//       for ki ...
//
// With a larger tile the partial results are the elements of C themselves. Each lane of a vectorised reduction loop
// also has a partial result; they are combined before the store. So does each thread of a block, in shared memory:
//
//     shared acc[256]                            crosscompile/passes/gpu/reduce_threads.h combines them in a tree
//     threadIdx.x for k  acc[k] = identity
//     threadIdx.x for k  acc[k] += ...
//     total = identity
//     combine for k      total += acc[k]
//     C[i] = total
#pragma once

#include "host/lower/nest_loops.h"

namespace ferry::lower {

// `around`: the loops of other stages in which this one, which is among the nests, is computed. Adds guards to `loops`,
// which must be those of the nest.
ir::Stmt reduction_nest(const Nest& nest, const Nests& nests, const std::vector<schedule::Loop>& around,
                        NestLoops& loops);

}  // namespace ferry::lower
