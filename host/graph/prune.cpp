#include "host/graph/prune.h"

#include "host/graph/loops.h"
#include "host/graph/operator_kind.h"

#include <algorithm>

namespace ferry::graph {
namespace {

// Returns the node of a loop without entries and whole tensors that nothing reads. One input stays.
Node with_needed_tensors(const Node& node, const std::vector<bool>& is_needed) {
  const std::size_t states = states_of(node);
  LoopAttributes loop{loop_of(node).count, {}, loop_of(node).has_condition};
  Node result = {node.op, node.name, {}, {}};
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const bool is_only = result.inputs.empty() && i + 1 == node.inputs.size();
    if (i >= states && !is_needed[node.outputs[i]] && !is_only) continue;
    result.inputs.push_back(node.inputs[i]);
    result.outputs.push_back(node.outputs[i]);
    if (i >= states) loop.tensors.push_back(loop_of(node).tensors[i - states]);
  }
  result.attributes = std::move(loop);
  return result;
}

}  // namespace

Graph prune(const Graph& graph) {
  std::vector<bool> is_needed(graph.tensors.size());
  for (const TensorId id : graph.inputs) is_needed[id] = true;
  for (const TensorId id : graph.outputs) is_needed[id] = true;
  std::vector<Node> nodes;
  std::vector<bool> is_loop_needed;  // true for the loops whose ends were visited
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    bool keeps = std::ranges::any_of(node->outputs, [&](TensorId id) { return is_needed[id]; });
    if (node->op == Operator::end_loop) is_loop_needed.push_back(keeps);
    if (node->op == Operator::loop) {
      keeps = is_loop_needed.back();
      is_loop_needed.pop_back();
    }
    if (!keeps) continue;
    nodes.push_back(kind_of(node->op) == OperatorKind::control ? with_needed_tensors(*node, is_needed) : *node);
    for (const TensorId id : nodes.back().inputs) is_needed[id] = true;
    for (const TensorId id : nodes.back().outputs) is_needed[id] = true;
  }
  Graph result;
  result.name = graph.name;
  result.symbols = graph.symbols;
  result.from_zero = graph.from_zero;
  result.output_names = graph.output_names;
  result.requirements = graph.requirements;
  result.counted = graph.counted;
  result.labels = graph.labels;
  result.input_labels = graph.input_labels;
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
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node)
    result.nodes.push_back({node->op, node->name, renumber(node->inputs), renumber(node->outputs), node->attributes});
  return result;
}

}  // namespace ferry::graph
