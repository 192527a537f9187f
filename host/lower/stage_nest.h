// The loops of one stage.
//
// A stage without reduction stores each value in the innermost loop. A reduction whose loops over results inside of its
// first reduction loop make a small constant tile keeps its partial results in a local array, so that they can live in
// registers:
//
//     for mo, no                      the loops outside the reduction
//       acc[mi, ni] = init            for mi, ni
//       for k                         the loops from the first reduction loop on, in schedule order
//         for mi, ni
//           acc[mi, ni] += ...
//       C[mo*4+mi, no*8+ni] = acc[mi, ni]      for mi, ni
//
// Loops of the reduction further out take the tile up where the iteration before has left it in C:
//
//     for ko, mo, no
//       acc[mi, ni] = ko == 0 ? init : C[...]      for mi, ni
//       for ki ...
//
// With a larger tile the partial results are the elements of C themselves. Lanes of a vectorised reduction loop are
// partial results too; they are combined before the store. So are what the threads of a block make, in shared memory:
//
//     shared acc[256]                            passes/reduce_threads has them combined in pairs
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

// What is to happen in each iteration of a loop of the nest, given what happens there without it. `counts`, if defined,
// says whether it is an iteration of the nest at all: an empty reduction is entered once for its results' initial
// values, and then nothing else may be computed there.
using LoopBody = std::function<ir::Stmt(std::size_t loop, ir::Stmt body, const Expr& counts)>;

// `around`: the loops of other stages in which this one is computed.
ir::Stmt stage_nest(const Nest& nest, const std::vector<schedule::Loop>& around, const LoopBody& loop_body);

}  // namespace ferry::lower
