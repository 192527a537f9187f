#include "host/graph/passes/repeat_dequantization.h"

#include "host/graph/operator_kind.h"
#include "host/graph/passes/dequantized.h"
#include "host/graph/prune.h"

#include <algorithm>

namespace ferry::graph {
namespace {

// Adds the nodes of a dequantization once more, and returns its result.
TensorId repeat(const Graph& from, const Dequantized& dequantized, Graph& result) {
  TensorId before = kNoTensor, last = kNoTensor;
  for (const std::size_t index : dequantized.nodes) {
    Node node = from.nodes[index];
    if (last != kNoTensor) std::ranges::replace(node.inputs, before, last);
    before = node.outputs[0];
    last = static_cast<TensorId>(result.tensors.size());
    result.tensors.push_back(from.tensor(before));
    node.outputs = {last};
    result.nodes.push_back(std::move(node));
  }
  return last;
}

}  // namespace

Graph repeat_dequantization(const Graph& graph) {
  const DequantizedTensors dequantized(graph);
  Graph result = graph;
  result.nodes.clear();
  for (const Node& node : graph.nodes) {
    Node copy = node;
    if (kind_of(node.op) == OperatorKind::elementwise)
      for (TensorId& id : copy.inputs)
        if (const auto found = dequantized.find(id)) id = repeat(graph, *found, result);
    result.nodes.push_back(std::move(copy));
  }
  return prune(result);
}

}  // namespace ferry::graph
