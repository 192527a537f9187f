// Nodes that one kernel computes.
#pragma once

#include "host/graph/graph.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace ferry::graph {

// At most one node is not elementwise, and all results have the same shape and layout; or a product that fuses its rows
// has these: a softmax of another product. Only the result of the last node is read outside the group.
struct Group {
  std::vector<std::size_t> nodes;  // indices, ascending
  bool operator==(const Group&) const = default;
};

// Returns the tensor that the group computes.
TensorId output_of(const Graph& graph, const Group& group);

// Returns "/layer1/conv1/Conv+Add" for "/layer1/conv1/Conv" and "/layer1/Add".
std::string joined_names(const std::string& first, const std::string& next);
// Returns "/layer1/conv1/Conv+Add+Relu": the names of the nodes, without the paths of those after the first. Nodes of
// one name count as one.
std::string name_of(const Graph& graph, const Group& group);
// Returns the names of the operators, at most four, as "conv_add_relu". Convolutions by Winograd's algorithm are called
// "conv_winograd4", say, after the size of their tiles, and those of integers that are computed in float32 directly
// "quantized_conv_f32".
std::string operators_of(const Graph& graph, const Group& group);
// The same if members of the group had these attributes.
std::string operators_of(const Graph& graph, const Group& group, const std::map<std::size_t, Attributes>& changed);

}  // namespace ferry::graph
