#include "host/graph/reference/all_outputs.h"

#include "host/graph/passes/make_groups.h"

#include <algorithm>
#include <utility>

namespace ferry::graph {

std::vector<TensorId> origins_of(const Graph& graph) {
  std::vector<TensorId> origins(graph.tensors.size());
  for (TensorId id = 0; id < origins.size(); ++id) origins[id] = id;
  for (const Node& node : graph.nodes)
    if (node.op == Operator::reshape) origins[node.outputs[0]] = origins[node.inputs[0]];
  return origins;
}

Graph with_all_outputs(Graph graph) {
  const std::vector<TensorId> origins = origins_of(graph);
  std::vector<TensorId> known;
  for (const TensorId output : graph.outputs) known.push_back(origins[output]);
  const auto add_output = [&](TensorId id, const std::string& name) {
    if (std::ranges::find(known, id) != known.end()) return;
    known.push_back(id);
    graph.outputs.push_back(id);
    graph.output_names.push_back(name);
  };
  // A tensor that is an output lies in no other, so that these nodes would be copies that are no group. As outputs,
  // their results end their groups, so that the other nodes are in the groups that they are in without.
  for (Node& node : graph.nodes)
    if (std::exchange(node.in_place, false)) add_output(node.outputs[0], node.name);
  for (const Group& group : make_groups(graph)) add_output(output_of(graph, group), name_of(graph, group));
  return graph;
}

}  // namespace ferry::graph
