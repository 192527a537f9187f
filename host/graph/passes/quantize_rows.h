// Rounds rows that are multiplied by weights of few bits to int8, where the network allows it and the target has
// instructions that multiply and add groups of four bytes. Numbers of weights are then multiplied as they are unpacked,
// without a conversion to floats:
//
//     q(k)   = int8(round_even(x(k) / step(b))), with a step of 1/127 of the largest magnitude in block b of the row
//     p(b,c) = sum of q(k) * w(k,c) in block b
//     y(c)   = sum of scale(b,c) * step(b) * (p(b,c) - zero(b,c) * sum of q(k) in block b)
#pragma once

#include "ferry/target/target.h"
#include "host/graph/graph.h"

namespace ferry::graph {

Graph quantize_rows(Graph graph, const Target& target);

}  // namespace ferry::graph
