#include "host/graph/passes/sum_blocks.h"

namespace ferry::graph {

Graph sum_blocks(Graph graph) {
  for (Node& node : graph.nodes)
    if (auto* packed = std::get_if<PackedMatmulAttributes>(&node.attributes)) packed->sums_blocks = true;
  return graph;
}

}  // namespace ferry::graph
