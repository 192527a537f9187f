// Removes what no output of a network depends on.
#pragma once

#include "host/graph/graph.h"

namespace ferry::graph {

// Returns the graph without nodes whose results nobody reads, and without tensors that no node left over names. Inputs
// stay.
Graph prune(const Graph& graph);

}  // namespace ferry::graph
