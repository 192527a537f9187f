#include "host/graph/passes/choose_winograd.h"

#include "host/autoschedule/winograd_choice.h"

#include <algorithm>

namespace ferry::graph {
namespace {

bool is_plain_window(const WindowAttributes& window) {
  return window.kernel == 3 && window.stride == 1 && window.dilation == 1;
}

// Returns the size of the tile that is best for a convolution; 0 for none.
std::int64_t tile_of(const Graph& graph, const Node& node, const Target& target, const ErrorRatios& limit) {
  const auto& conv = std::get<ConvAttributes>(node.attributes);
  const Tensor &x = graph.tensor(node.inputs[0]), &y = graph.tensor(node.outputs[0]);
  if (conv.groups != 1 || x.channel_block == 1 || y.channel_block == 1 ||
      !std::ranges::all_of(conv.windows, is_plain_window))
    return 0;
  const std::optional<std::int64_t> height = y.shape[2].constant(), width = y.shape[3].constant();
  if (!height || !width) return 0;
  return autoschedule::winograd_tile({.images = x.shape[0].constant().value_or(1),
                                      .channels = *x.shape[1].constant(),
                                      .filters = *y.shape[1].constant(),
                                      .height = *height,
                                      .width = *width},
                                     y.channel_block, target, limit);
}

}  // namespace

Graph choose_winograd(Graph graph, const Target& target, const ErrorRatios& limit) {
  for (Node& node : graph.nodes)
    if (node.op == Operator::conv)
      std::get<ConvAttributes>(node.attributes).winograd_tile = tile_of(graph, node, target, limit);
  return graph;
}

}  // namespace ferry::graph
