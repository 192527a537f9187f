// Estimates the time of products of 8-bit integers, and what they would take in float32.
#pragma once

#include "ferry/error_ratios.h"
#include "ferry/target/target.h"
#include "host/graph/graph.h"
#include "host/graph/passes/size_guess.h"

namespace ferry::graph {

// Returns how a node computes scaled products of integers, or would; null for other nodes.
const ops::IntegerProducts* scaled_products_of(const Node& node);
// Whether a node has scaled products of integers that it computes in float32.
bool is_in_floats(const Node& node);

// Instructions a multiply-add in the innermost loop, without loads.
struct ProductCosts {
  double integers = 0, floats = 0;
};

// Estimates both for a node whose products are those of scaled 8-bit integers, as chosen for a CPU
// (host/graph/passes/choose_dots.h). In float32 a vector takes a fused multiply-add, or else a multiplication and an
// addition. An instruction for sums of products multiplies and adds a group in each lane, and vpmaddwd needs a further
// addition. Pairs of bytes take two instructions, and one and a half where no weight is -128; in depthwise convolutions
// half of one. Without one, elements are widened by one instruction, and multiplied and added by another at least.
ProductCosts product_costs(const Graph& graph, const Node& node, const Target& target);

// Estimated times of a node, in the time of a multiply-add of one lane in float32.
struct ProductTimes {
  double integers = 0, floats = 0;
};

// Estimates both for a node with scaled products. In float32, convolutions may use Winograd's algorithm within this
// limit, if one is given; and what they read is first converted, which takes as long as moving the bytes
// (blocked_groups.h). Weights are read once in each call if they are read for few results.
ProductTimes product_times(const Graph& graph, const Node& node, const Target& target, const ErrorRatios* winograd,
                           const SizeGuess& guess);

}  // namespace ferry::graph
