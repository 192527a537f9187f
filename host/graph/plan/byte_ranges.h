// Where the inputs of a concatenation, or the result of a slice, would lie in the larger tensor in memory.
#pragma once

#include "host/graph/graph.h"

#include <optional>
#include <vector>

namespace ferry::graph {

// Returns the number of bytes of a tensor in memory.
Size byte_count(const Tensor& tensor);

// Returns for each input of the concat its first byte in the result, and behind them the end; nothing unless each is
// one range of bytes of the result for all values of the symbols.
std::optional<std::vector<Size>> concat_offsets(const Graph& graph, const Node& concat);

// Returns the first byte of the slice's result in its input; nothing unless the result is one range of bytes of it for
// all values of the symbols.
std::optional<Size> slice_offset(const Graph& graph, const Node& slice);

}  // namespace ferry::graph
