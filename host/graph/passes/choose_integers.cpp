#include "host/graph/passes/choose_integers.h"

#include "host/graph/passes/product_costs.h"

namespace ferry::graph {

// Floats must save this share of the time, since the estimate knows little of the core.
constexpr double kWorthwhile = 0.9;

Graph choose_integers(Graph graph, const Target& target, const ErrorRatios* winograd, const SizeGuess& guess) {
  for (Node& node : graph.nodes) {
    if (scaled_products_of(node) == nullptr) continue;
    const ProductTimes times = product_times(graph, node, target, winograd, guess);
    if (times.floats >= kWorthwhile * times.integers) continue;
    if (auto* conv = std::get_if<QuantizedConvAttributes>(&node.attributes)) conv->in_integers = false;
    if (auto* matmul = std::get_if<QuantizedMatmulAttributes>(&node.attributes)) matmul->in_integers = false;
  }
  return graph;
}

}  // namespace ferry::graph
