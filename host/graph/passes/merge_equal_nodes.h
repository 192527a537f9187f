// Computes once what several nodes compute alike (common subexpression elimination):
//
//     a = relu(x); b = relu(x); y = a + b   ->   a = relu(x); y = a + a
#pragma once

#include "host/graph/graph.h"

namespace ferry::graph {

// Constants of equal contents count as equal.
Graph merge_equal_nodes(Graph graph);

}  // namespace ferry::graph
