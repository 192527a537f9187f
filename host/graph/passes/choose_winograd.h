// Computes convolutions of 3 x 3 with Winograd's algorithm (ferry/ops/winograd.h) where that takes less time: it does
// fewer multiplications, but transforms what it reads and writes. Results differ in rounding.
#pragma once

#include "host/graph/graph.h"

namespace ferry::graph {

// Only convolutions that read and write images with their channels in blocks have the choice.
Graph choose_winograd(Graph graph);

}  // namespace ferry::graph
