// Attributes of operators whose windows move over the spatial dimensions.
#pragma once

#include <string>
#include <vector>

#include "host/graph/onnx/node_import.h"

namespace ferry::graph::onnx {

// Returns an attribute with an integer for each of these dimensions.
std::vector<std::int64_t> one_each(NodeImport& node, const std::string& name, std::size_t dimensions,
                                   std::int64_t otherwise);
// Reads strides, dilations and padding, for windows of this size over the spatial dimensions of x.
std::vector<WindowAttributes> read_windows(NodeImport& node, const Shape& x, const std::vector<std::int64_t>& kernel);
// The number of positions that a window takes along a dimension of this size, and the padding after it that they reach.
struct Positions {
  Size count, pad_after;
};
Positions positions_of(const NodeImport& node, const Size& size, const WindowAttributes& window, bool ceil);
// Returns the size of the filters, which must be known and be what the node says.
std::vector<std::int64_t> read_kernel(NodeImport& node, const Shape& filters);
// Reads the attributes of a convolution of these inputs.
ConvAttributes read_convolution(NodeImport& node, std::size_t x, std::size_t filters);

}  // namespace ferry::graph::onnx
