// Parts that the importers of loops share.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host/graph/onnx/node_ops.h"

namespace ferry::graph::onnx {

// Return the integer that a tensor of one element is known to hold; nothing if the call computes it, or if it depends
// on sizes and a number is wanted.
std::optional<Size> known_size(const Value& value);
std::optional<std::int64_t> known_number(const Value& value);

// Returns the value with a further dimension of size 1 at this place.
Value with_dimension(const NodeOps& of, const Value& value, std::size_t dimension);

// Appends the last outputs of an iteration to what earlier iterations gave, if the node gives them after its state.
void collect(const NodeImport& node, std::size_t states, std::vector<std::vector<Value>>& collected,
             const std::vector<Value>& outputs);

}  // namespace ferry::graph::onnx
