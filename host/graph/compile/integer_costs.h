// Estimates where products of 8-bit integers take more instructions than float32 would.
#pragma once

#include "ferry/target/target.h"
#include "host/graph/graph.h"

#include <string>
#include <vector>

namespace ferry::graph {

// Instructions a multiply-add in the innermost loop, without loads.
struct ProductCosts {
  double integers = 0, floats = 0;
};

// Estimates both for a node whose products are those of scaled 8-bit integers, as chosen for a CPU
// (host/graph/passes/choose_dots.h). In float32 a vector takes a fused multiply-add, or else a multiplication and an
// addition. An instruction for sums of products multiplies and adds a group in each lane, and vpmaddwd needs a further
// addition. Pairs of bytes take two instructions, and one and a half where no weight is -128. Without one, elements are
// widened by one instruction, and multiplied and added by another at least.
ProductCosts product_costs(const Graph& graph, const Node& node, const Target& target);

// Returns a sentence about the nodes of an optimized network that are estimated to take more instructions than in
// float32, or nothing if there are none.
std::vector<std::string> notes_on_integers(const Graph& graph, const Target& target);

}  // namespace ferry::graph
