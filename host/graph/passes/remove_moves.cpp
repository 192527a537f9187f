#include "host/graph/passes/remove_moves.h"

#include "host/graph/passes/replacements.h"
#include "host/graph/prune.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace ferry::graph {
namespace {

// Returns a constant with dimension d of the result being dimension order[d] of the given one.
std::shared_ptr<const ConstantData> transposed(const Tensor& tensor, const std::vector<std::size_t>& order) {
  const std::size_t rank = order.size(), bytes = dtype_bytes(tensor.dtype);
  std::vector<std::size_t> sizes(rank), strides(rank), position(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    sizes[d] = static_cast<std::size_t>(*tensor.shape[order[d]].constant());
    strides[d] = bytes;
    for (std::size_t after = order[d] + 1; after < rank; ++after)
      strides[d] *= static_cast<std::size_t>(*tensor.shape[after].constant());
  }
  const auto data = std::make_shared<std::vector<std::uint8_t>>(tensor.constant->bytes.size());
  std::size_t from = 0;
  for (std::size_t to = 0; to < data->size(); to += bytes) {
    std::memcpy(data->data() + to, tensor.constant->bytes.data() + from, bytes);
    for (std::size_t d = rank; d-- > 0;) {
      from += strides[d];
      if (++position[d] < sizes[d]) break;
      from -= strides[d] * sizes[d];
      position[d] = 0;
    }
  }
  return std::make_shared<const ConstantData>(ConstantData{*data, data});
}

class MoveRemover {
 public:
  explicit MoveRemover(Graph graph) : graph_(std::move(graph)), writers_(graph_.tensors.size(), nullptr) {}

  Graph run() {
    for (Node& node : graph_.nodes) {
      replacements_.apply(node.inputs);
      if (node.op == Operator::transpose) simplify_transpose(node);
      if (node.op == Operator::reshape) simplify_reshape(node);
      if (!is_dropped(node) && changes_nothing(node)) replacements_.replace(node.outputs[0], node.inputs[0]);
      for (const TensorId id : node.outputs) writers_[id] = &node;
    }
    replacements_.apply(graph_.outputs);
    return prune(graph_);
  }

 private:
  bool is_dropped(const Node& node) const { return replacements_(node.outputs[0]) != node.outputs[0]; }

  // Returns the node that computes a tensor if it is of this operator.
  const Node* writer(TensorId id, Operator op) const {
    const Node* node = id < writers_.size() ? writers_[id] : nullptr;
    return node != nullptr && node->op == op ? node : nullptr;
  }

  const Shape& shape(TensorId id) const { return graph_.tensor(id).shape; }

  void replace_by_constant(const Node& node, std::shared_ptr<const ConstantData> data) {
    const Tensor result = graph_.tensor(node.outputs[0]);
    replacements_.replace(node.outputs[0], add_constant(graph_, result.name, type_of(result), std::move(data)));
  }

  void simplify_transpose(Node& node) {
    auto& order = std::get<TransposeAttributes>(node.attributes).order;
    if (const Node* before = writer(node.inputs[0], Operator::transpose)) {
      const auto& first = std::get<TransposeAttributes>(before->attributes).order;
      for (std::size_t& d : order) d = first[d];
      node.inputs = before->inputs;
    }
    if (graph_.tensor(node.inputs[0]).constant != nullptr)
      return replace_by_constant(node, transposed(graph_.tensor(node.inputs[0]), order));
    // Dimensions of size 1 may be anywhere.
    std::vector<std::size_t> moved;
    std::ranges::copy_if(order, std::back_inserter(moved),
                         [&](std::size_t d) { return shape(node.inputs[0])[d].constant() != 1; });
    if (!std::ranges::is_sorted(moved) || std::ranges::is_sorted(order)) return;
    node.op = Operator::reshape;
    node.attributes = ReshapeAttributes{shape(node.outputs[0])};
  }

  void simplify_reshape(Node& node) {
    if (const Node* before = writer(node.inputs[0], Operator::reshape)) node.inputs = before->inputs;
    if (const auto& constant = graph_.tensor(node.inputs[0]).constant; constant != nullptr)
      replace_by_constant(node, constant);
  }

  // Whether the result is the first input.
  bool changes_nothing(const Node& node) const {
    if (node.inputs.empty() || type_of(graph_.tensor(node.inputs[0])) != type_of(graph_.tensor(node.outputs[0])))
      return false;
    const auto is_zero = [](const Size& size) { return size.constant() == 0; };
    if (const auto* transpose = std::get_if<TransposeAttributes>(&node.attributes))
      return std::ranges::is_sorted(transpose->order);
    if (const auto* slice = std::get_if<SliceAttributes>(&node.attributes))
      return std::ranges::all_of(slice->begin, is_zero) &&
             std::ranges::all_of(slice->stride, [](std::int64_t stride) { return stride == 1; });
    if (const auto* pad = std::get_if<PadAttributes>(&node.attributes))
      return std::ranges::all_of(pad->before, is_zero) && std::ranges::all_of(pad->after, is_zero);
    return node.op == Operator::reshape || node.op == Operator::broadcast || node.op == Operator::cast ||
           (node.op == Operator::concat && node.inputs.size() == 1);
  }

  Graph graph_;
  std::vector<const Node*> writers_;  // who writes the tensors that the graph had before
  Replacements replacements_;
};

}  // namespace

Graph remove_moves(Graph graph) { return MoveRemover(std::move(graph)).run(); }

}  // namespace ferry::graph
