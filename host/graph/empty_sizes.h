// Which sizes of a network may be 0 in a call.
#pragma once

#include "host/graph/graph.h"

#include <set>
#include <string>
#include <vector>

namespace ferry::graph {

// Returns for each symbol of the graph whether a call may give it the value 0, as an empty batch does. Sizes are
// computed as if symbols were at least 1 (size.h). This holds for 0 too where each dimension is a multiple of the
// symbol, a sum of sizes as that of a concat, or independent of it, and no node reads a certain place of such a
// dimension: windows, slices and indices. Where sizes take the symbol to be at least 0, only windows and indices
// matter.
std::vector<bool> sizes_that_may_be_zero(const Graph& graph);

// Returns the symbols that could be 0 only if sizes took them to be at least 0, and which are likely to be: others are
// joined to them, as to the size of a cache of keys and values.
std::set<std::string> symbols_to_take_from_zero(const Graph& graph);

}  // namespace ferry::graph
