// Takes maxima of bytes before they are dequantized:
//
//     max_pool((cast(x) - zero) * scale)   ->   (cast(max_pool(x)) - zero) * scale
//
// with one scale, greater than 0, and one zero point. Dequantization keeps the order of its inputs, so the result is
// the same, and what is pooled takes a quarter of the bytes.
#pragma once

#include "host/graph/graph.h"

namespace ferry::graph {

Graph pool_integers(const Graph& graph);

}  // namespace ferry::graph
