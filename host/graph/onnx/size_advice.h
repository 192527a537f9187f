// Advice for a network that is refused: which of its sizes and inputs, being the same in every call, would help.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "host/graph/graph.h"

namespace ferry::graph::onnx {

// Whether the network is imported if these sizes are fixed.
using ImportWithSizes = std::function<bool(const std::map<std::string, std::int64_t>& sizes)>;

// Returns a sentence, or nothing where nothing is known to help. Some usual values are tried, for one size after the
// other, and then for all, at most so many times in total.
std::string advice_on_sizes(const Graph& graph, const std::vector<std::string>& refusals, std::size_t most_trials,
                            const ImportWithSizes& is_imported);

}  // namespace ferry::graph::onnx
