#include "host/graph/graph.h"

#include <algorithm>
#include <utility>

namespace ferry::graph {

const char* operator_name(Operator op) {
  switch (op) {
#define FERRY_CASE(name, inputs, attributes) \
  case Operator::name: return #name;
    FERRY_GRAPH_OPERATORS(FERRY_CASE)
#undef FERRY_CASE
  }
  return "unknown";
}

std::string to_text(const TensorType& type) { return dtype_name(type.dtype) + to_text(type.shape); }

namespace {

TensorId append_tensor(Graph& graph, Tensor tensor) {
  graph.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(graph.tensors.size() - 1);
}

}  // namespace

Shape stored_shape(const Tensor& tensor) {
  if (tensor.channel_block == 1) return tensor.shape;
  const Shape& shape = tensor.shape;
  return {shape[0], floor_divide(shape[1] + (tensor.channel_block - 1), tensor.channel_block), shape[2], shape[3],
          tensor.channel_block};
}

bool is_same_bytes(const Shape& image, std::int64_t channel_block) {
  const std::optional<std::int64_t> channels = image[1].constant();
  return channels && *channels % channel_block == 0 && image[2].constant() == 1 && image[3].constant() == 1;
}

TensorId add_input(Graph& graph, std::string name, TensorType type) {
  for (const Size& size : type.shape) {
    for (const std::string& symbol : size.symbols()) {
      if (std::find(graph.symbols.begin(), graph.symbols.end(), symbol) == graph.symbols.end()) {
        graph.symbols.push_back(symbol);
      }
    }
  }
  const TensorId id = append_tensor(graph, {std::move(name), type.dtype, std::move(type.shape)});
  graph.inputs.push_back(id);
  return id;
}

TensorId add_constant(Graph& graph, std::string name, TensorType type, std::shared_ptr<const ConstantData> data) {
  return append_tensor(graph, {std::move(name), type.dtype, std::move(type.shape), std::move(data)});
}

TensorId add_node(Graph& graph, Node node) {
  std::vector<TensorType> inputs;
  for (const TensorId id : node.inputs) inputs.push_back(type_of(graph.tensor(id)));
  for (TensorType& type : infer_types(node, inputs)) {
    node.outputs.push_back(append_tensor(graph, {node.name, type.dtype, std::move(type.shape)}));
  }
  graph.nodes.push_back(std::move(node));
  return graph.nodes.back().outputs.front();
}

Size size_at(const Shape& shape, std::size_t d, std::size_t rank) {
  return d + shape.size() < rank ? Size(1) : shape[d + shape.size() - rank];
}

std::optional<Shape> broadcast_shapes(const Shape& a, const Shape& b, std::vector<EqualSizes>* undecided) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape result;
  for (std::size_t i = 0; i < rank; ++i) {
    const Size left = size_at(a, i, rank), right = size_at(b, i, rank);
    if (right.constant() == 1) {
      result.push_back(left);
    } else if (left.constant() == 1 || left == right) {
      result.push_back(right);
    } else if (undecided != nullptr && !proves_different(left, right)) {
      undecided->push_back({left, right, "a size", "the other input's"});
      result.push_back(simpler(left, right));
    } else {
      return std::nullopt;
    }
  }
  return result;
}

Size multiply_adds(const Graph& graph, const Node& node) {
  const bool is_conv = node.op == Operator::conv || node.op == Operator::quantized_conv;
  const auto* attributes = std::get_if<MatmulAttributes>(&node.attributes);
  if (const auto* quantized = std::get_if<QuantizedMatmulAttributes>(&node.attributes)) attributes = &quantized->matmul;
  if (!is_conv && attributes == nullptr) return 0;
  const Size outputs = element_count(graph.tensor(node.outputs.front()).shape);
  if (attributes != nullptr) {
    const Shape& a = graph.tensor(node.inputs[0]).shape;
    return outputs * (attributes->transposed_a && a.size() > 1 ? a[a.size() - 2] : a.back());
  }
  const Shape& filters = graph.tensor(node.inputs[1]).shape;  // [O, C / groups, kernel...]
  return outputs * element_count(Shape(filters.begin() + 1, filters.end()));
}

}  // namespace ferry::graph
