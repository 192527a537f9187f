// Computes depthwise convolutions in one kernel with the convolution whose result they read, where that exceeds a part
// of the second-level cache: a block of it is used up before the next one is computed.
#pragma once

#include "ferry/target/target.h"
#include "host/graph/graph.h"

namespace ferry::graph {

// Marks depthwise convolutions over images of known sizes, with their channels in blocks, as fuses_input where
// make_groups() makes one group of both.
Graph fuse_windows(Graph graph, const Target& target);

}  // namespace ferry::graph
