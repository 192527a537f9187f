// Computes networks of narrow floats in float32:
//
//     y = relu(conv(x, w))   ->   y = cast(relu(conv(cast(x, f32), w)), f16)      with the elements of w as float32
//
// Sums of products are in float32 in any case, and CPUs need instructions to convert each narrow factor. Inputs and
// outputs keep their types, and a network's own casts to a narrow type still round. Everything else is rounded to
// float32 instead, so results are usually closer to those of real numbers.
#pragma once

#include "host/graph/graph.h"

namespace ferry::graph {

Graph widen_floats(const Graph& graph);

}  // namespace ferry::graph
