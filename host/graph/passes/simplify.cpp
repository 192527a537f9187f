#include "host/graph/passes/simplify.h"

#include "host/graph/passes/fold_batch_norms.h"
#include "host/graph/passes/hoist_invariants.h"
#include "host/graph/passes/merge_equal_nodes.h"
#include "host/graph/passes/remove_moves.h"

namespace ferry::graph {
namespace {

using Pass = Graph (*)(Graph);

// remove_moves folds moves of constants first; merge_equal_nodes then merges equal constants before it compares nodes.
constexpr Pass kPasses[] = {remove_moves, hoist_invariants, merge_equal_nodes, fold_batch_norms};

}  // namespace

Graph simplify(Graph graph) {
  for (const Pass pass : kPasses) {
    graph = pass(std::move(graph));
    validate(graph);
  }
  return graph;
}

}  // namespace ferry::graph
