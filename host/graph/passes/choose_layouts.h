// Stores images with their channels in blocks of one vector (NCHWc) where that is faster: convolutions and pools then
// have one vector for each pixel, and need no copies that rearrange what they read.
//
//     y = pool(conv(x, w))   ->   y' = pool(conv(x, w))  in blocks;  y = convert(y')
//
// Conversions stand only between groups of nodes with different layouts. The choice minimises the estimated time of
// all groups and conversions.
#pragma once

#include "host/graph/graph.h"

#include <cstdint>

namespace ferry::graph {

// Inputs, outputs and constants stay plain. `lanes` is the number of channels in a block.
Graph choose_layouts(const Graph& graph, std::int64_t lanes);

}  // namespace ferry::graph
