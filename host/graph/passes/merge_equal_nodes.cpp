#include "host/graph/passes/merge_equal_nodes.h"

#include "host/graph/passes/replacements.h"
#include "host/graph/prune.h"

#include <algorithm>
#include <utility>

namespace ferry::graph {
namespace {

bool are_equal(const Tensor& a, const Tensor& b) {
  return type_of(a) == type_of(b) && std::ranges::equal(a.constant->bytes, b.constant->bytes);
}

void merge_constants(const Graph& graph, Replacements& replacements) {
  std::multimap<std::size_t, TensorId> known;  // by size in bytes
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    if (graph.tensor(id).constant == nullptr) continue;
    const std::size_t bytes = graph.tensor(id).constant->bytes.size();
    const auto [first, last] = known.equal_range(bytes);
    const auto same = std::find_if(
        first, last, [&](const auto& one) { return are_equal(graph.tensor(one.second), graph.tensor(id)); });
    if (same == last)
      known.emplace(bytes, id);
    else
      replacements.replace(id, same->second);
  }
}

}  // namespace

Graph merge_equal_nodes(Graph graph) {
  Replacements replacements;
  merge_constants(graph, replacements);
  std::multimap<std::pair<Operator, std::vector<TensorId>>, const Node*> known;
  for (Node& node : graph.nodes) {
    replacements.apply(node.inputs);
    const std::pair key(node.op, node.inputs);
    const auto [first, last] = known.equal_range(key);
    const auto same =
        std::find_if(first, last, [&](const auto& one) { return one.second->attributes == node.attributes; });
    if (same == last)
      known.emplace(key, &node);
    else
      for (std::size_t o = 0; o < node.outputs.size(); ++o)
        replacements.replace(node.outputs[o], same->second->outputs[o]);
  }
  replacements.apply(graph.outputs);
  return prune(graph);
}

}  // namespace ferry::graph
