#include "host/graph/compile/alias_moves.h"

#include "host/graph/loops.h"
#include "host/graph/operator_kind.h"
#include "host/graph/passes/make_groups.h"
#include "host/graph/plan/byte_ranges.h"
#include "host/graph/plan/network_function.h"

#include <algorithm>

namespace ferry::graph {
namespace {

bool is_aligned(const Size& offset, std::uint64_t alignment) {
  return divide_exactly(offset, Size(static_cast<std::int64_t>(alignment))).has_value();
}

bool may_be_in_place(const Graph& graph, const Node& node, std::uint64_t alignment) {
  if (node.op == Operator::slice) {
    const std::optional<Size> offset = slice_offset(graph, node);
    return offset && is_aligned(*offset, alignment);
  }
  if (node.op != Operator::concat) return false;
  std::optional<std::vector<Size>> offsets = concat_offsets(graph, node);
  if (!offsets) return false;
  offsets->pop_back();
  return std::ranges::all_of(*offsets, [&](const Size& offset) { return is_aligned(offset, alignment); });
}

// Lets the nodes in a loop access entries of tensors where they lie.
void alias_entries(const Graph& graph, Node& node, std::uint64_t alignment) {
  auto& loop = std::get<LoopAttributes>(node.attributes);
  const std::vector<TensorId>& entries = node.op == Operator::loop ? node.outputs : node.inputs;
  const std::size_t states = states_of(node);
  for (std::size_t i = 0; i < loop.tensors.size(); ++i)
    loop.tensors[i].in_place = is_aligned(byte_count(graph.tensor(entries[states + i])), alignment);
}

}  // namespace

Graph alias_moves(Graph graph, std::uint64_t alignment) {
  std::vector<bool> has_followers(graph.nodes.size());
  for (const Group& group : make_groups(graph))
    for (const std::size_t node : group.nodes) has_followers[node] = group.nodes.size() > 1;
  for (Node& node : graph.nodes) {
    node.in_place = may_be_in_place(graph, node, alignment);
    if (kind_of(node.op) == OperatorKind::control) alias_entries(graph, node, alignment);
  }
  // What one concat does not take, another one may.
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<std::size_t> copies(graph.nodes.size() + 1);
    for (const PlacedCopy& copy : assign_storages(graph).copies)
      if (copy.is_of_concat) ++copies[copy.node];
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      Node& node = graph.nodes[n];
      if (!node.in_place || copies[n] == 0 || (copies[n] < node.inputs.size() && !has_followers[n])) continue;
      node.in_place = false;
      changed = true;
    }
  }
  return graph;
}

}  // namespace ferry::graph
