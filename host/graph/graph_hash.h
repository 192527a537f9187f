// Identifies what a network computes with, apart from its weights.
#pragma once

#include "ferry/hash.h"
#include "host/graph/graph.h"

namespace ferry::graph {

// Returns a hash of the operators in their order, with their attributes, and the types and shapes of all tensors. Names
// have no part in it but those of open sizes, nor have the values of constants.
Hash graph_hash(const Graph& graph);

}  // namespace ferry::graph
