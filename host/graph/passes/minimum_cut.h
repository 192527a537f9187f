// Chooses one of two labels for each of several nodes, at the least cost: each label has a cost at each node, and two
// nodes with different labels may cost something too.
#pragma once

#include <cstddef>
#include <vector>

namespace ferry::graph {

class MinimumCut {
 public:
  explicit MinimumCut(std::size_t nodes);

  // Costs are not negative, and add up.
  void add_node_cost(std::size_t node, double if_first, double if_second);
  void add_pair_cost(std::size_t a, std::size_t b, double if_different);

  // Returns for each node whether it has the first label. Where both cost the same, it has the second.
  std::vector<bool> solve();

 private:
  struct Edge {
    std::size_t to = 0;
    double capacity = 0;  // what is left
  };

  void add_edge(std::size_t from, std::size_t to, double capacity, double back);
  // Pushes as much flow as fits along one path from the source to the sink; false if there is none.
  bool augment();

  std::size_t source_, sink_;
  std::vector<Edge> edges_;  // an edge and its reverse are neighbours
  std::vector<std::vector<std::size_t>> leaving_;
};

}  // namespace ferry::graph
