// Tells where products of 8-bit integers take more instructions than float32 would, or are computed in float32.
#pragma once

#include "ferry/target/target.h"
#include "host/graph/graph.h"
#include "host/graph/passes/size_guess.h"

#include <string>
#include <vector>

namespace ferry::graph {

// Returns sentences about the nodes of an optimized network that are computed in float32 although they have products of
// 8-bit integers, and about those that are estimated to take more instructions than in float32, if there are any.
std::vector<std::string> notes_on_integers(const Graph& graph, const Target& target, const SizeGuess& guess = {});

}  // namespace ferry::graph
