#include "host/graph/index_limits.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace ferry::graph {
namespace {

// Whether a node's result has elements of its first input, unchanged.
bool moves(Operator op) {
  switch (op) {
    case Operator::reshape:
    case Operator::broadcast:
    case Operator::transpose:
    case Operator::slice:
    case Operator::cast:
    case Operator::gather: return true;
    default: return false;
  }
}

}  // namespace

std::map<std::size_t, std::int64_t> index_limits(const Graph& graph) {
  constexpr std::size_t kNone = ~std::size_t{0};
  std::vector<std::size_t> input_of(graph.tensors.size(), kNone);
  for (std::size_t i = 0; i < graph.inputs.size(); ++i)
    if (!is_float(graph.tensor(graph.inputs[i]).dtype) && graph.tensor(graph.inputs[i]).dtype != DType::boolean)
      input_of[graph.inputs[i]] = i;
  std::map<std::size_t, std::int64_t> limits;
  for (const Node& node : graph.nodes) {
    if (node.op == Operator::gather || node.op == Operator::gather_elements) {
      const std::size_t input = input_of[node.inputs[1]];
      const std::size_t dimension = std::get<DimensionAttributes>(node.attributes).dimension;
      const std::optional<std::int64_t> rows = graph.tensor(node.inputs[0]).shape[dimension].constant();
      if (input != kNone && rows && *rows > 0) {
        const auto [known, is_new] = limits.emplace(input, *rows);
        if (!is_new) known->second = std::min(known->second, *rows);
      }
    }
    if (moves(node.op)) input_of[node.outputs[0]] = input_of[node.inputs[0]];
  }
  return limits;
}

}  // namespace ferry::graph
