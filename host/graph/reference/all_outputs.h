// A network whose tensors between groups of nodes are outputs too, so that the result of each kernel can be compared
// with what the nodes of its group compute from its inputs.
#pragma once

#include "host/graph/graph.h"

#include <vector>

namespace ferry::graph {

// Appends an output for each tensor that a group (passes/make_groups.h) computes and that is none. Reshaped tensors are
// those that they are made from. The outputs have the names of their groups, which stay the same.
Graph with_all_outputs(Graph graph);

// Returns the tensor that this one is reshaped from, through any number of reshapes, or itself; for all tensors.
std::vector<TensorId> origins_of(const Graph& graph);

}  // namespace ferry::graph
