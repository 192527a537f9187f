#include "host/graph/passes/minimum_cut.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace ferry::graph {
namespace {

constexpr std::size_t kNone = SIZE_MAX;

// Returns for each node the edge by which it is reached from `source` along edges with capacity left; kNone if it is
// not. The source has an edge number that no edge has.
template <class Leaving, class Edges>
std::vector<std::size_t> reached_from(std::size_t source, const Leaving& leaving, const Edges& edges) {
  std::vector<std::size_t> by(leaving.size(), kNone), queue{source};
  by[source] = edges.size();
  for (std::size_t next = 0; next < queue.size(); ++next) {
    for (const std::size_t edge : leaving[queue[next]]) {
      if (edges[edge].capacity <= 0 || by[edges[edge].to] != kNone) continue;
      by[edges[edge].to] = edge;
      queue.push_back(edges[edge].to);
    }
  }
  return by;
}

}  // namespace

MinimumCut::MinimumCut(std::size_t nodes) : source_(nodes), sink_(nodes + 1), leaving_(nodes + 2) {}

void MinimumCut::add_node_cost(std::size_t node, double if_first, double if_second) {
  // The cut separates the nodes with the first label, which stay with the source, from those with the second. What both
  // labels cost changes no choice, and would take a path of its own through the node.
  if (if_second > if_first)
    add_edge(source_, node, if_second - if_first, 0);
  else if (if_first > if_second)
    add_edge(node, sink_, if_first - if_second, 0);
}

void MinimumCut::add_pair_cost(std::size_t a, std::size_t b, double if_different) {
  add_edge(a, b, if_different, if_different);
}

void MinimumCut::add_edge(std::size_t from, std::size_t to, double capacity, double back) {
  leaving_[from].push_back(edges_.size());
  edges_.push_back({to, capacity});
  leaving_[to].push_back(edges_.size());
  edges_.push_back({from, back});
}

bool MinimumCut::augment() {
  const std::vector<std::size_t> by = reached_from(source_, leaving_, edges_);
  if (by[sink_] == kNone) return false;
  const auto from = [&](std::size_t edge) { return edges_[edge ^ 1U].to; };
  double flow = std::numeric_limits<double>::infinity();
  for (std::size_t node = sink_; node != source_; node = from(by[node]))
    flow = std::min(flow, edges_[by[node]].capacity);
  for (std::size_t node = sink_; node != source_; node = from(by[node])) {
    edges_[by[node]].capacity -= flow;
    edges_[by[node] ^ 1U].capacity += flow;
  }
  return true;
}

std::vector<bool> MinimumCut::solve() {
  // The shortest path each time (Edmonds and Karp).
  while (augment()) {
  }
  const std::vector<std::size_t> by = reached_from(source_, leaving_, edges_);
  std::vector<bool> is_first;
  for (std::size_t node = 0; node < source_; ++node) is_first.push_back(by[node] != kNone);
  return is_first;
}

}  // namespace ferry::graph
