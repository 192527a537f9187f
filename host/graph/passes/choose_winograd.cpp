#include "host/graph/passes/choose_winograd.h"

#include <algorithm>

namespace ferry::graph {
namespace {

// Times in multiply-adds of a direct convolution: of a multiply-add of the products of transformed tiles, and of
// transforming one element of a tile in both dimensions, with loads and stores.
constexpr double kProduct = 1.25, kTransform = 14;

// The sizes of a convolution that has the choice.
struct Sizes {
  double inputs = 0, outputs = 0;      // channels
  std::int64_t rows = 0, columns = 0;  // of the result
};

bool is_plain_window(const WindowAttributes& window) {
  return window.kernel == 3 && window.stride == 1 && window.dilation == 1;
}

std::optional<Sizes> sizes_of(const Graph& graph, const Node& node) {
  if (node.op != Operator::conv) return std::nullopt;
  const auto& conv = std::get<ConvAttributes>(node.attributes);
  const Tensor &x = graph.tensor(node.inputs[0]), &y = graph.tensor(node.outputs[0]);
  if (conv.groups != 1 || x.channel_block == 1 || y.channel_block == 1 ||
      !std::ranges::all_of(conv.windows, is_plain_window) || !y.shape[2].constant() || !y.shape[3].constant())
    return std::nullopt;
  return Sizes{static_cast<double>(*x.shape[1].constant()), static_cast<double>(*y.shape[1].constant()),
               *y.shape[2].constant(), *y.shape[3].constant()};
}

double direct_cost(const Sizes& sizes) {
  return 9 * sizes.inputs * sizes.outputs * static_cast<double>(sizes.rows * sizes.columns);
}

double winograd_cost(const Sizes& sizes, std::int64_t tile) {
  const auto tiles = static_cast<double>((sizes.rows + tile - 1) / tile * ((sizes.columns + tile - 1) / tile)),
             points = static_cast<double>((tile + 2) * (tile + 2));
  return tiles * points * (kProduct * sizes.inputs * sizes.outputs + kTransform * (sizes.inputs + sizes.outputs));
}

}  // namespace

Graph choose_winograd(Graph graph) {
  for (Node& node : graph.nodes) {
    const std::optional<Sizes> sizes = sizes_of(graph, node);
    if (!sizes) continue;
    double least = direct_cost(*sizes);
    for (const std::int64_t tile : {2, 4}) {
      if (winograd_cost(*sizes, tile) >= least) continue;
      least = winograd_cost(*sizes, tile);
      std::get<ConvAttributes>(node.attributes).winograd_tile = tile;
    }
  }
  return graph;
}

}  // namespace ferry::graph
