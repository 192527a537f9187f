// Attributes of operators whose windows move over the spatial dimensions.
#pragma once

#include <string>
#include <vector>

#include "host/graph/onnx/node_import.h"

namespace ferry::graph::onnx {

// Returns an attribute with an integer for each of these dimensions.
std::vector<std::int64_t> one_each(NodeImport& node, const std::string& name, std::size_t dimensions,
                                   std::int64_t otherwise);
// Windows, and padding that auto_pad computes of open sizes, which is none of the windows' own.
struct Windows {
  std::vector<WindowAttributes> each;
  Shape before, after;  // one size for each spatial dimension; 0 where the windows have the padding

  bool are_padded_outside() const;
};
// Reads strides, dilations and padding, for windows of this size over the spatial dimensions of x.
Windows read_windows(NodeImport& node, const Shape& x, const std::vector<std::int64_t>& kernel);
// Returns x with the padding that the windows do not have.
Value padded_outside(const NodeImport& node, const Value& x, const Windows& windows, double value);
// Reads windows and gives x the padding that they do not have.
std::vector<WindowAttributes> read_windows(NodeImport& node, Value& x, const std::vector<std::int64_t>& kernel,
                                           double padding);
// Returns the means of windows over x, whose attributes are read but for those of the pool.
Value average_pool(NodeImport& node, const Value& x, PoolAttributes pool);
// The number of positions that a window takes along a dimension of this size, and the padding after it that they reach.
struct Positions {
  Size count, pad_after;
};
Positions positions_of(const NodeImport& node, const Size& size, const WindowAttributes& window, bool ceil);
// Returns the size of the filters, which must be known and be what the node says.
std::vector<std::int64_t> read_kernel(NodeImport& node, const Shape& filters);
// Reads the attributes of a convolution of x with the filters of an input, and gives x padding that they cannot tell.
ConvAttributes read_convolution(NodeImport& node, Value& x, std::size_t filters);

}  // namespace ferry::graph::onnx
