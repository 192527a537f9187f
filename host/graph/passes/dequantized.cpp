#include "host/graph/passes/dequantized.h"

#include <cstring>

namespace ferry::graph {
namespace {

constexpr std::size_t kNoNode = SIZE_MAX;

bool is_constant_f32(const Graph& graph, TensorId id) {
  return graph.tensor(id).constant != nullptr && graph.tensor(id).dtype == DType::f32;
}

bool is_byte(DType dtype) { return dtype == DType::u8 || dtype == DType::i8; }

}  // namespace

DequantizedTensors::DequantizedTensors(const Graph& graph) : graph_(graph), writer_(graph.tensors.size(), kNoNode) {
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    for (const TensorId id : graph.nodes[n].outputs) writer_[id] = n;
}

std::optional<Dequantized> DequantizedTensors::find(TensorId id) const {
  Dequantized found;
  const auto node_of = [&](TensorId tensor, Operator op) -> const Node* {
    const std::size_t index = tensor == kNoTensor ? kNoNode : writer_[tensor];
    if (index == kNoNode || graph_.nodes[index].op != op) return nullptr;
    found.nodes.insert(found.nodes.begin(), index);
    return &graph_.nodes[index];
  };
  const Node* scaled = node_of(id, Operator::mul);
  if (scaled == nullptr || !is_constant_f32(graph_, scaled->inputs[1])) return std::nullopt;
  found.scale = scaled->inputs[1];
  TensorId value = scaled->inputs[0];
  if (const Node* moved = node_of(value, Operator::sub)) {
    if (!is_constant_f32(graph_, moved->inputs[1])) return std::nullopt;
    found.zero = moved->inputs[1];
    value = moved->inputs[0];
  }
  const Node* real = node_of(value, Operator::cast);
  if (real == nullptr || !is_byte(graph_.tensor(real->inputs[0]).dtype)) return std::nullopt;
  found.integers = real->inputs[0];
  if (graph_.tensor(found.integers).shape != graph_.tensor(id).shape) return std::nullopt;
  return found;
}

const Node* DequantizedTensors::writer(TensorId id, Operator op) const {
  const std::size_t index = writer_[id];
  return index == kNoNode || graph_.nodes[index].op != op ? nullptr : &graph_.nodes[index];
}

std::optional<Centered> DequantizedTensors::find_centered(TensorId id) const {
  const auto widened = [&](TensorId tensor) {
    const Node* cast = graph_.tensor(tensor).dtype == DType::i32 ? writer(tensor, Operator::cast) : nullptr;
    return cast != nullptr && is_byte(graph_.tensor(cast->inputs[0]).dtype) ? cast->inputs[0] : kNoTensor;
  };
  Centered found;
  TensorId value = id;
  if (const Node* moved = writer(id, Operator::sub)) {
    value = moved->inputs[0];
    const TensorId zero = moved->inputs[1];
    found.zero = graph_.tensor(zero).constant != nullptr ? zero : widened(zero);
    if (found.zero == kNoTensor) return std::nullopt;
  }
  found.integers = widened(value);
  if (found.integers == kNoTensor || graph_.tensor(found.integers).shape != graph_.tensor(id).shape)
    return std::nullopt;
  return found;
}

std::vector<float> floats_of(const Tensor& tensor) {
  std::vector<float> elements(tensor.constant->bytes.size() / sizeof(float));
  if (!elements.empty()) std::memcpy(elements.data(), tensor.constant->bytes.data(), elements.size() * sizeof(float));
  return elements;
}

}  // namespace ferry::graph
