// Concatenations and slices that move nothing:
//
//     y = concat(relu(a), relu(b))   ->   two kernels, which write into ranges of y
//     y = relu(slice(x))             ->   one kernel, which reads a range of x
//
// A concat is computed in place where each of its inputs is one range of bytes of the result, as with a batch of 1 and
// channels that fill their blocks, and at least one input can be written there; the others are copied. A concat that
// elementwise nodes follow, with which it would share a kernel, is in place only where no input is copied. Offsets are
// multiples of the alignment that kernels rely on.
#pragma once

#include "host/graph/graph.h"

#include <cstdint>

namespace ferry::graph {

Graph alias_moves(Graph graph, std::uint64_t alignment);

}  // namespace ferry::graph
