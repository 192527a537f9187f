#include "host/graph/passes/simplify.h"

#include "host/graph/passes/fold_batch_norms.h"
#include "host/graph/passes/merge_equal_nodes.h"
#include "host/graph/passes/remove_moves.h"

namespace ferry::graph {
namespace {

using Pass = Graph (*)(Graph);

// Equal constants are one before nodes that read them are compared, and moves of constants are done before that.
constexpr Pass kPasses[] = {remove_moves, merge_equal_nodes, fold_batch_norms};

}  // namespace

Graph simplify(Graph graph) {
  for (const Pass pass : kPasses) {
    graph = pass(std::move(graph));
    validate(graph);
  }
  return graph;
}

}  // namespace ferry::graph
