// Sums up the products of each block of weights of few bits before they are scaled, so that a weight takes a conversion
// and a multiply-add instead of two of these and a multiplication:
//
//     y(c) = sum of x(k) * (w(k,c) - zero(b,c)) * scale(b,c)
//
//     r(b)   = sum of x(k) in block b
//     p(b,c) = sum of x(k) * w(k,c) in block b
//     y(c)   = sum of scale(b,c) * (p(b,c) - zero(b,c) * r(b))
//
// Loops for CPUs keep the sums of blocks in registers. The default schedules of GPUs would store them in memory.
#pragma once

#include "host/graph/graph.h"

namespace ferry::graph {

Graph sum_blocks(Graph graph);

}  // namespace ferry::graph
