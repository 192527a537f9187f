// Conditions that depend on sizes alone, found in the nodes that compute them.
#pragma once

#include <optional>

#include "host/graph/graph.h"

namespace ferry::graph::onnx {

// Returns the size if the tensor is a bool that tells whether one is 1; nothing otherwise, and for kNoTensor.
std::optional<Size> size_compared_with_1(const Graph& graph, TensorId condition);

}  // namespace ferry::graph::onnx
