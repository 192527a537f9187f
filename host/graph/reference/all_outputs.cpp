#include "host/graph/reference/all_outputs.h"

#include "crosscompile/ir/error.h"
#include "host/graph/operator_kind.h"
#include "host/graph/passes/make_groups.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace ferry::graph {

std::vector<TensorId> origins_of(const Graph& graph) {
  std::vector<TensorId> origins(graph.tensors.size());
  for (TensorId id = 0; id < origins.size(); ++id) origins[id] = id;
  for (const Node& node : graph.nodes)
    if (node.op == Operator::reshape) origins[node.outputs[0]] = origins[node.inputs[0]];
  return origins;
}

namespace {

// Returns the number of the result of a loop that has the tensor of each iteration, or nothing.
std::optional<std::size_t> whole_of(const Node& end, const std::vector<TensorId>& origins, TensorId id) {
  const std::size_t states = states_of(end);
  for (std::size_t i = states; i < end.inputs.size(); ++i)
    if (origins[end.inputs[i]] == origins[id] && !loop_of(end).tensors[i - states].is_backwards) return i;
  return std::nullopt;
}

// For each tensor the loop in which it is computed.
std::vector<std::size_t> loops_of_tensors(const Graph& graph, const Loops& loops) {
  std::vector<std::size_t> result(graph.tensors.size(), kNoLoop);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    for (const TensorId id : graph.nodes[n].outputs) result[id] = loops.of_results(n);
  return result;
}

class OutputAdder {
 public:
  explicit OutputAdder(Graph& graph) : graph_(graph), loops_(graph), origins_(origins_of(graph)) {
    loop_of_tensor_ = loops_of_tensors(graph, loops_);
    for (const TensorId output : graph.outputs) known_.insert(origins_[output]);
  }

  void add(TensorId id, const std::string& name) {
    id = origins_[id];
    if (is_in_unbounded_loop(loop_of_tensor_[id])) return;
    for (std::size_t loop = loop_of_tensor_[id]; loop != kNoLoop; loop = loops_.all()[loop].parent)
      id = whole(graph_.nodes[loops_.all()[loop].end], id, loops_.all()[loop].parent);
    if (!known_.insert(origins_[id]).second) return;
    graph_.outputs.push_back(id);
    graph_.output_names.push_back(name);
  }

 private:
  bool is_in_unbounded_loop(std::size_t loop) const {
    while (loop != kNoLoop && !is_unbounded(loop_of(graph_.nodes[loops_.all()[loop].begin])))
      loop = loops_.all()[loop].parent;
    return loop != kNoLoop;
  }

  // Returns the tensor of all iterations of a loop.
  TensorId whole(Node& end, TensorId id, std::size_t parent) {
    if (const auto known = whole_of(end, origins_, id)) return end.outputs[*known];
    auto& loop = std::get<LoopAttributes>(end.attributes);
    Tensor all = {graph_.tensor(id).name, graph_.tensor(id).dtype, graph_.tensor(id).shape};
    all.shape.insert(all.shape.begin(), loop.count);
    const auto result = static_cast<TensorId>(graph_.tensors.size());
    graph_.tensors.push_back(std::move(all));
    origins_.push_back(result);
    loop_of_tensor_.push_back(parent);
    loop.tensors.push_back({});
    end.inputs.push_back(id);
    end.outputs.push_back(result);
    return result;
  }

  Graph& graph_;
  const Loops loops_;
  std::vector<TensorId> origins_;
  std::vector<std::size_t> loop_of_tensor_;
  std::set<TensorId> known_;
};

}  // namespace

Graph with_all_outputs(Graph graph) {
  OutputAdder outputs(graph);
  // A tensor that is an output lies in no other, so that these nodes would be copies that are no group. As outputs,
  // their results end their groups, so that the other nodes are in the groups that they are in without.
  for (Node& node : graph.nodes) {
    if (std::exchange(node.in_place, false)) outputs.add(node.outputs[0], node.name);
    if (kind_of(node.op) == OperatorKind::control)
      for (const TensorId id : std::vector(node.outputs)) outputs.add(id, node.name);
  }
  for (const Group& group : make_groups(graph)) outputs.add(output_of(graph, group), name_of(graph, group));
  return graph;
}

HeldTensors::HeldTensors(const Graph& graph)
    : graph_(graph), loops_(graph), origins_(origins_of(graph)), loop_of_tensor_(loops_of_tensors(graph, loops_)) {}

HeldTensor HeldTensors::find(TensorId id) const {
  HeldTensor held{origins_[id], {}};
  for (std::size_t loop = loop_of_tensor_[held.tensor]; loop != kNoLoop; loop = loops_.all()[loop].parent) {
    const Node& end = graph_.nodes[loops_.all()[loop].end];
    const auto whole = whole_of(end, origins_, held.tensor);
    if (!whole) throw InternalError("expected a network with the outputs of all nodes");
    held.tensor = end.outputs[*whole];
    held.loops.insert(held.loops.begin(), loop);
  }
  return held;
}

}  // namespace ferry::graph
