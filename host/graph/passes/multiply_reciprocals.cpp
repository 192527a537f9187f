#include "host/graph/passes/multiply_reciprocals.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace ferry::graph {
namespace {

// Returns the reciprocal of a constant number if both are normal numbers.
std::optional<float> reciprocal_of(const Tensor& tensor) {
  if (tensor.constant == nullptr || tensor.dtype != DType::f32 || element_count(tensor.shape).constant() != 1)
    return std::nullopt;
  float divisor = 0;
  std::memcpy(&divisor, tensor.constant->bytes.data(), sizeof divisor);
  const float reciprocal = 1 / divisor;
  return std::isnormal(divisor) && std::isnormal(reciprocal) ? std::optional(reciprocal) : std::nullopt;
}

std::shared_ptr<const ConstantData> data_of(float value) {
  const auto data = std::make_shared<std::vector<std::uint8_t>>(sizeof value);
  std::memcpy(data->data(), &value, sizeof value);
  return std::make_shared<const ConstantData>(ConstantData{*data, data});
}

// Whether erf reads the tensor, and nothing else does.
bool is_for_erf_alone(const Graph& graph, TensorId id) {
  const auto reads = [id](const Node& node) { return std::ranges::find(node.inputs, id) != node.inputs.end(); };
  if (std::ranges::find(graph.outputs, id) != graph.outputs.end()) return false;
  const auto reader = std::ranges::find_if(graph.nodes, reads);
  return reader != graph.nodes.end() && std::find_if(reader + 1, graph.nodes.end(), reads) == graph.nodes.end() &&
         reader->op == Operator::erf;
}

}  // namespace

Graph multiply_reciprocals(Graph graph) {
  const bool has_erf = std::ranges::any_of(graph.nodes, [](const Node& node) { return node.op == Operator::erf; });
  if (!has_erf) return graph;
  std::map<TensorId, TensorId> factors;  // by their divisors
  for (Node& node : graph.nodes) {
    if (node.op != Operator::div) continue;
    const TensorId divisor = node.inputs[1];
    const std::optional<float> reciprocal = reciprocal_of(graph.tensor(divisor));
    if (!reciprocal || !is_for_erf_alone(graph, node.outputs[0])) continue;
    if (!factors.contains(divisor)) {
      const Tensor tensor = graph.tensor(divisor);
      factors[divisor] = add_constant(graph, tensor.name, type_of(tensor), data_of(*reciprocal));
    }
    node.op = Operator::mul;
    node.inputs[1] = factors[divisor];
  }
  return graph;
}

}  // namespace ferry::graph
