// Removes redundant data movement:
//
//     transpose(transpose(x))     ->   x, or one transpose
//     reshape(reshape(x))         ->   one reshape
//     transpose(constant)         ->   another constant
//     transpose of sizes 1        ->   reshape
//     casts, broadcasts, slices, paddings and concatenations that change nothing   ->   what they read
#pragma once

#include "host/graph/graph.h"

namespace ferry::graph {

Graph remove_moves(Graph graph);

}  // namespace ferry::graph
