#include "host/graph/loops.h"

#include "crosscompile/ir/error.h"

#include <algorithm>

namespace ferry::graph {

Loops::Loops(const Graph& graph) {
  std::size_t open = kNoLoop;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Operator op = graph.nodes[n].op;
    if (op == Operator::end_loop) {
      if (open == kNoLoop) throw InternalError("graph: node '" + graph.nodes[n].name + "' ends no loop");
      loops_[open].end = n;
      bracketed_.push_back(open);
      open = loops_[open].parent;
    } else if (op == Operator::loop) {
      bracketed_.push_back(loops_.size());
    } else {
      bracketed_.push_back(kNoLoop);
    }
    of_node_.push_back(open);
    if (op != Operator::loop) continue;
    loops_.push_back({n, 0, open});
    open = loops_.size() - 1;
  }
  if (open != kNoLoop) throw InternalError("graph: the loop '" + graph.nodes[loops_[open].begin].name + "' has no end");
}

std::size_t Loops::before_node(std::size_t node) const {
  if (node == of_node_.size()) return kNoLoop;
  return bracketed_[node] != kNoLoop && loops_[bracketed_[node]].end == node ? bracketed_[node] : of_node_[node];
}

std::vector<std::size_t> Loops::around(std::size_t node) const {
  std::vector<std::size_t> loops;
  for (std::size_t loop = of_node_[node]; loop != kNoLoop; loop = loops_[loop].parent) loops.push_back(loop);
  std::ranges::reverse(loops);
  return loops;
}

const LoopAttributes& loop_of(const Node& node) {
  const auto* loop = std::get_if<LoopAttributes>(&node.attributes);
  if (loop == nullptr) throw InternalError("graph: node '" + node.name + "' is no loop");
  return *loop;
}

bool is_unbounded(const LoopAttributes& loop) {
  constexpr std::int64_t kMostKept = std::int64_t{1} << 31;
  return loop.has_condition && loop.count.constant().value_or(0) >= kMostKept;
}

bool runs_at_most_once(const LoopAttributes& loop) { return loop.count.constant().value_or(2) <= 1; }

std::size_t states_of(const Node& node) { return node.inputs.size() - loop_of(node).tensors.size(); }

Size multiply_adds(const Graph& graph) {
  Size all = 0;
  std::vector<Size> iterations = {1};  // how often all the loops around a node run
  for (const Node& node : graph.nodes) {
    if (node.op == Operator::loop)
      iterations.push_back(loop_of(node).has_condition ? iterations.back() : iterations.back() * loop_of(node).count);
    if (node.op == Operator::end_loop) iterations.pop_back();
    all = all + multiply_adds(graph, node) * iterations.back();
  }
  return all;
}

}  // namespace ferry::graph
