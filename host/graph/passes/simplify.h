// Makes a network smaller before it is divided into groups: the passes that hold for every target.
#pragma once

#include "host/graph/graph.h"

namespace ferry::graph {

// Inputs and outputs stay as they are.
Graph simplify(Graph graph);

}  // namespace ferry::graph
