// A network of which a GPU leaves parts to the CPU beside it.
#pragma once

#include "host/graph/graph.h"

namespace ferry::test {

// Long cumulative sums, of a GPU's results and of the input, between nodes that suit a GPU. A tensor of the GPU is read
// by two sums, one of the CPU's by nodes of both devices, and a constant on both. One output is computed on either
// device, and one is read again.
graph::Graph mixed_network(const graph::Size& length);

// The same with a concat and a slice that move nothing: both devices and a constant contribute parts to a tensor, which
// the GPU reads as a whole and the CPU in part.
graph::Graph mixed_parts_network();

// Long cumulative sums before, between and behind two loops, which read them as they are in every iteration and entry
// by entry. The first loop runs `length` - 1 times. Sums have `width` elements; with a multiple of 64 their entries lie
// in them.
graph::Graph mixed_loops_network(const graph::Size& length, std::int64_t width);

}  // namespace ferry::test
