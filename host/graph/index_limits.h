// Inputs that are indices of tables, such as the words of a text.
#pragma once

#include <cstdint>
#include <map>

#include "host/graph/graph.h"

namespace ferry::graph {

// Returns, by position among the network's inputs, how many rows the smallest table has that an input of integers
// indexes, directly or after it was moved: contents from 0 to below it are valid. Other inputs are left out.
std::map<std::size_t, std::int64_t> index_limits(const Graph& graph);

}  // namespace ferry::graph
