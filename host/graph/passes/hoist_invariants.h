// Moves what every iteration of a loop would compute alike in front of the loop:
//
//     loop(h); part = slice(w); y = matmul(h, part); end_loop(y)   ->   part = slice(w); loop(h); y = ...
//
// A loop of at most one iteration, such as a branch, keeps its nodes: they would run where it does not.
#pragma once

#include "host/graph/graph.h"

namespace ferry::graph {

Graph hoist_invariants(Graph graph);

}  // namespace ferry::graph
