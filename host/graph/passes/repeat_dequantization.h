// Computes tensors of dequantized integers anew for each elementwise node that reads them, right before it:
//
//     y = dequantize(x)         conv(y)                 y = dequantize(x)         conv(y)
//     z = conv(y)                            ->         z = conv(y)
//     add(z, y)                                         add(z, dequantize(x))
//
// So the node's group reads the integers, a quarter of the bytes, and the addition of a residual joins the group of the
// product before it instead of that of the dequantization.
#pragma once

#include "host/graph/graph.h"

namespace ferry::graph {

Graph repeat_dequantization(const Graph& graph);

}  // namespace ferry::graph
