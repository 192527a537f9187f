#include "host/graph/prune.h"

#include <algorithm>

namespace ferry::graph {

Graph prune(const Graph& graph) {
  std::vector<bool> is_needed(graph.tensors.size());
  for (const TensorId id : graph.inputs) is_needed[id] = true;
  for (const TensorId id : graph.outputs) is_needed[id] = true;
  std::vector<const Node*> nodes;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const auto needed = [&](TensorId id) { return is_needed[id]; };
    if (std::none_of(node->outputs.begin(), node->outputs.end(), needed)) continue;
    for (const TensorId id : node->inputs) is_needed[id] = true;
    for (const TensorId id : node->outputs) is_needed[id] = true;
    nodes.push_back(&*node);
  }
  Graph result;
  result.name = graph.name;
  result.symbols = graph.symbols;
  result.output_names = graph.output_names;
  std::vector<TensorId> renumbered(graph.tensors.size(), kNoTensor);
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    if (!is_needed[id]) continue;
    renumbered[id] = static_cast<TensorId>(result.tensors.size());
    result.tensors.push_back(graph.tensors[id]);
  }
  const auto renumber = [&](std::vector<TensorId> ids) {
    for (TensorId& id : ids) id = renumbered[id];
    return ids;
  };
  result.inputs = renumber(graph.inputs);
  result.outputs = renumber(graph.outputs);
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    result.nodes.push_back(
        {(*node)->op, (*node)->name, renumber((*node)->inputs), renumber((*node)->outputs), (*node)->attributes});
  }
  return result;
}

}  // namespace ferry::graph
