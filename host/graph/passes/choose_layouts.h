// Stores images with their channels in blocks of one vector (NCHWc) where that is faster: convolutions and pools then
// have one vector for each pixel, and need no copies that rearrange what they read.
//
//     y = pool(conv(x, w))   ->   y' = pool(conv(x, w))  in blocks;  y = convert(y')
//
// Conversions stand only between groups of nodes with different layouts. The choice minimises the estimated time of
// all groups and conversions.
#pragma once

#include "ferry/target/target.h"
#include "host/graph/graph.h"
#include "host/graph/passes/layout_problem.h"
#include "host/graph/passes/size_guess.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace ferry::graph {

// Returns the number of channels in a block: those of a vector of floats, or twice as many where products of bytes,
// which are most of the network's work, fill a register of int16 in between, or 64 where AMX's tiles add up as many
// bytes at once and images of bytes become hardly larger; 1 if the target has no vectors.
std::int64_t channels_in_block(const Graph& graph, const Target& target, const SizeGuess& guess = {});

// Returns for each group of a network whether it is to have blocks, if that is known better than by estimates, which
// say `by_default`.
using KnownLayouts = std::function<std::optional<std::vector<bool>>(
    const Graph& graph, std::int64_t lanes, const LayoutProblem& problem, const std::vector<bool>& by_default)>;

// Inputs, outputs and constants stay plain. `lanes` is the number of channels in a block.
Graph choose_layouts(const Graph& graph, std::int64_t lanes, const SizeGuess& guess = {},
                     const KnownLayouts& known = {});

}  // namespace ferry::graph
