#include "host/graph/onnx/size_conditions.h"

#include <algorithm>
#include <ranges>

#include "host/graph/onnx/known.h"

namespace ferry::graph::onnx {
namespace {

const Node* node_of(const Graph& graph, TensorId tensor) {
  for (const Node& node : graph.nodes | std::views::reverse)
    if (std::ranges::find(node.outputs, tensor) != node.outputs.end()) return &node;
  return nullptr;
}

// Skips what changes neither a bool nor a number.
const Node* source_of(const Graph& graph, TensorId tensor) {
  const Node* node = node_of(graph, tensor);
  while (node != nullptr && (node->op == Operator::cast || node->op == Operator::reshape))
    node = node_of(graph, node->inputs[0]);
  return node;
}

// Returns the only element of a tensor of sizes or of a constant of integers.
std::optional<Size> element_of(const Graph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  if (tensor.constant != nullptr) {
    const KnownRef known = is_float(tensor.dtype) ? nullptr : known_of(tensor.dtype, *tensor.constant);
    return known != nullptr && known->integers.size() == 1 ? std::optional(known->integers[0]) : std::nullopt;
  }
  const Node* node = source_of(graph, id);
  if (node == nullptr || node->op != Operator::sizes) return std::nullopt;
  const std::vector<Size>& sizes = std::get<SizesAttributes>(node->attributes).elements;
  return sizes.size() == 1 ? std::optional(sizes[0]) : std::nullopt;
}

}  // namespace

std::optional<Size> size_compared_with_1(const Graph& graph, TensorId condition) {
  const Node* node = condition == kNoTensor ? nullptr : source_of(graph, condition);
  if (node == nullptr || node->op != Operator::equal) return std::nullopt;
  const std::optional<Size> left = element_of(graph, node->inputs[0]), right = element_of(graph, node->inputs[1]);
  if (!left || !right) return std::nullopt;
  if (right->constant() == 1) return left;
  return left->constant() == 1 ? right : std::nullopt;
}

}  // namespace ferry::graph::onnx
