#include "host/graph/passes/merge_equal_nodes.h"

#include "host/graph/hash_code.h"
#include "host/graph/loops.h"
#include "host/graph/operator_kind.h"
#include "host/graph/passes/replacements.h"
#include "host/graph/prune.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>

namespace ferry::graph {
namespace {

bool are_equal(const Tensor& a, const Tensor& b) {
  return type_of(a) == type_of(b) && std::ranges::equal(a.constant->bytes, b.constant->bytes);
}

std::size_t hash_of(const ConstantData& data) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(data.bytes.data()), data.bytes.size()});
}

std::size_t hash_of(const Node& node) {
  HashCode hash;
  hash.add(static_cast<std::uint64_t>(node.op));
  for (const TensorId id : node.inputs) hash.add(std::uint64_t{id});
  hash.add(node.attributes);
  return hash.value();
}

void merge_constants(const Graph& graph, Replacements& replacements) {
  std::unordered_multimap<std::size_t, TensorId> known;  // by hash
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    if (graph.tensor(id).constant == nullptr) continue;
    const std::size_t hash = hash_of(*graph.tensor(id).constant);
    const auto [first, last] = known.equal_range(hash);
    const auto same = std::find_if(
        first, last, [&](const auto& one) { return are_equal(graph.tensor(one.second), graph.tensor(id)); });
    if (same == last)
      known.emplace(hash, id);
    else
      replacements.replace(id, same->second);
  }
}

}  // namespace

Graph merge_equal_nodes(Graph graph) {
  Replacements replacements;
  merge_constants(graph, replacements);
  const Loops loops(graph);
  std::unordered_multimap<std::size_t, std::size_t> known;  // nodes by hash
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    Node& node = graph.nodes[n];
    replacements.apply(node.inputs);
    if (kind_of(node.op) == OperatorKind::control) continue;
    const std::size_t hash = hash_of(node);
    const auto [first, last] = known.equal_range(hash);
    const auto same = std::find_if(first, last, [&](const auto& one) {
      const Node& other = graph.nodes[one.second];
      return other.op == node.op && other.inputs == node.inputs && other.attributes == node.attributes &&
             loops.contains(loops.of_node(one.second), n);
    });
    if (same == last)
      known.emplace(hash, n);
    else
      for (std::size_t o = 0; o < node.outputs.size(); ++o)
        replacements.replace(node.outputs[o], graph.nodes[same->second].outputs[o]);
  }
  replacements.apply(graph.outputs);
  return prune(graph);
}

}  // namespace ferry::graph
