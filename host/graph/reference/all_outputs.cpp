#include "host/graph/reference/all_outputs.h"

#include "host/graph/passes/make_groups.h"

#include <algorithm>

namespace ferry::graph {

std::vector<TensorId> origins_of(const Graph& graph) {
  std::vector<TensorId> origins(graph.tensors.size());
  for (TensorId id = 0; id < origins.size(); ++id) origins[id] = id;
  for (const Node& node : graph.nodes)
    if (node.op == Operator::reshape) origins[node.outputs[0]] = origins[node.inputs[0]];
  return origins;
}

Graph with_all_outputs(Graph graph) {
  // A tensor that is an output lies in no other, so that these nodes would be copies that are no group.
  for (Node& node : graph.nodes) node.in_place = false;
  const std::vector<TensorId> origins = origins_of(graph);
  std::vector<TensorId> known;
  for (const TensorId output : graph.outputs) known.push_back(origins[output]);
  for (const Group& group : make_groups(graph)) {
    const TensorId output = output_of(graph, group);
    if (std::ranges::find(known, output) != known.end()) continue;
    graph.outputs.push_back(output);
    graph.output_names.push_back(name_of(graph, group));
  }
  return graph;
}

}  // namespace ferry::graph
