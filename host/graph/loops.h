// Which nodes of a graph are in which loop.
#pragma once

#include "host/graph/graph.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ferry::graph {

inline constexpr std::size_t kNoLoop = SIZE_MAX;

struct Loop {
  std::size_t begin = 0, end = 0;  // its nodes `loop` and `end_loop`
  std::size_t parent = kNoLoop;    // the loop around it
};

class Loops {
 public:
  // Throws InternalError where the nodes of loops do not nest.
  explicit Loops(const Graph& graph);

  // In the order in which they begin.
  const std::vector<Loop>& all() const { return loops_; }
  bool empty() const { return loops_.empty(); }
  // Returns the innermost loop in whose iterations the node runs, or kNoLoop. A `loop` and its `end_loop` run outside
  // of the loop.
  std::size_t of_node(std::size_t node) const { return of_node_[node]; }
  // Returns the innermost loop in which the results of a node are: for a `loop`, that which it begins.
  std::size_t of_results(std::size_t node) const {
    const std::size_t own = bracketed_[node];
    return own != kNoLoop && loops_[own].begin == node ? own : of_node_[node];
  }
  // Returns the loop that a node begins or ends, or kNoLoop.
  std::size_t bracketed_by(std::size_t node) const { return bracketed_[node]; }
  // Returns the innermost loop in whose iterations a step runs that stands directly before a node, or behind the last.
  std::size_t before_node(std::size_t node) const;
  // Whether a node runs in the iterations of a loop, also of one inside of it. Every node runs in kNoLoop.
  bool contains(std::size_t loop, std::size_t node) const {
    return loop == kNoLoop || (loops_[loop].begin < node && node < loops_[loop].end);
  }
  // Returns the loops around a node, the outermost first.
  std::vector<std::size_t> around(std::size_t node) const;

 private:
  std::vector<Loop> loops_;
  std::vector<std::size_t> of_node_;
  std::vector<std::size_t> bracketed_;  // for each node, the loop that it begins or ends, or kNoLoop
};

// A count that is never reached: only the condition ends the loop.
inline constexpr std::int64_t kUnbounded = INT64_MAX;

const LoopAttributes& loop_of(const Node& node);
// Whether nothing but its condition bounds the iterations of a loop, so that not all of what they compute can be kept.
bool is_unbounded(const LoopAttributes& loop);
// Whether a loop has one iteration at most, as a branch has.
bool runs_at_most_once(const LoopAttributes& loop);
// Returns the number of states of a `loop` or an `end_loop`.
std::size_t states_of(const Node& node);

// Returns the multiply-adds of all nodes, those in loops for all iterations, or for one where a condition may end the
// loop.
Size multiply_adds(const Graph& graph);

}  // namespace ferry::graph
