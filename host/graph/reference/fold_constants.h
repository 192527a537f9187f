// Computes what depends on constants alone while a network is compiled, instead of in each call.
#pragma once

#include "host/graph/graph.h"

namespace ferry::graph {

// Nodes whose results would take more memory than their inputs stay, such as casts of weights to a wider type, and so
// do those that would take long to evaluate.
Graph fold_constants(Graph graph);

}  // namespace ferry::graph
