// Builds the loop nest of one stage.
//
// A stage without reduction stores each value in the innermost loop. If the loops over results inside the first
// reduction loop make a small constant tile, a reduction keeps its partial results in a local array, so that they can
// stay in registers:
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
//     shared acc[256]                            passes/reduce_threads combines them in a tree
//     threadIdx.x for k  acc[k] = identity
//     threadIdx.x for k  acc[k] += ...
//     total = identity
//     combine for k      total += acc[k]
//     C[i] = total
#pragma once

#include "crosscompile/ir/stmt.h"
#include "host/lower/nest.h"

#include <functional>

namespace ferry::lower {

// Returns the body of a loop of the nest including the stages attached to it, given the body without them. `is_real`,
// if defined, tells whether this is a real iteration of the nest: an empty reduction runs one iteration to store the
// initial values of its results, in which nothing else may be computed.
using LoopBody = std::function<ir::Stmt(std::size_t loop, ir::Stmt body, const Expr& is_real)>;

// `around` are the loops of other stages in which this one is computed.
ir::Stmt stage_nest(const Nest& nest, const std::vector<schedule::Loop>& around, const LoopBody& loop_body);

}  // namespace ferry::lower
