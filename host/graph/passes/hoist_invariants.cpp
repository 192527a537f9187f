#include "host/graph/passes/hoist_invariants.h"

#include "host/graph/loops.h"
#include "host/graph/operator_kind.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace ferry::graph {
namespace {

// Whether the node may run where the loop around it does not: it reports no wrong indices.
bool may_move(const Node& node) {
  return kind_of(node.op) != OperatorKind::control && node.op != Operator::gather &&
         node.op != Operator::gather_elements;
}

}  // namespace

Graph hoist_invariants(Graph graph) {
  std::vector<std::size_t> depth(graph.tensors.size(), 0);  // number of loops around what computes the tensor
  std::vector<std::vector<Node>> lists(1);                  // the nodes in each of the open loops, and outside
  std::vector<std::size_t> first(1);  // for each of them, the outermost list its nodes may move to
  for (Node& node : graph.nodes) {
    std::size_t place = lists.size() - 1;
    if (node.op == Operator::end_loop) {
      std::vector<Node> body = std::exchange(lists.back(), {});
      lists.pop_back();
      first.pop_back();
      std::ranges::move(body, std::back_inserter(lists.back()));
      --place;
    } else if (may_move(node)) {
      place = first.back();
      for (const TensorId id : node.inputs)
        if (id != kNoTensor) place = std::max(place, depth[id]);
    }
    const bool begins = node.op == Operator::loop;
    for (const TensorId id : node.outputs) depth[id] = place + (begins ? 1 : 0);
    if (begins) {
      const bool runs_once = runs_at_most_once(loop_of(node));
      first.push_back(runs_once ? lists.size() : first.back());
      lists.emplace_back();
    }
    lists[begins ? lists.size() - 1 : place].push_back(std::move(node));
  }
  graph.nodes = std::move(lists.front());
  return graph;
}

}  // namespace ferry::graph
