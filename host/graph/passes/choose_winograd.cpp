#include "host/graph/passes/choose_winograd.h"

#include "host/autoschedule/winograd_choice.h"

#include <algorithm>

namespace ferry::graph {
namespace {

bool is_plain_window(const WindowAttributes& window) {
  return window.kernel == 3 && window.stride == 1 && window.dilation == 1;
}

// Returns the choice for a convolution of floats, or of integers if it is computed in floats.
autoschedule::WinogradChoice choice_of(const Graph& graph, const Node& node, const ConvAttributes& conv,
                                       const Target& target, const ErrorRatios& limit, const SizeGuess& guess) {
  const Tensor &x = graph.tensor(node.inputs[0]), &y = graph.tensor(node.outputs[0]);
  if (conv.groups != 1 || x.channel_block == 1 || y.channel_block == 1 ||
      !std::ranges::all_of(conv.windows, is_plain_window))
    return {};
  return autoschedule::winograd_choice({.images = guess.number(x.shape[0]),
                                        .channels = *x.shape[1].constant(),
                                        .filters = *y.shape[1].constant(),
                                        .height = guess.number(y.shape[2]),
                                        .width = guess.number(y.shape[3])},
                                       y.channel_block, target, limit);
}

}  // namespace

double winograd_share(const Graph& graph, const Node& node, const Target& target, const ErrorRatios& limit,
                      const SizeGuess& guess) {
  const auto* quantized = std::get_if<QuantizedConvAttributes>(&node.attributes);
  const auto* conv = quantized != nullptr ? &quantized->conv : std::get_if<ConvAttributes>(&node.attributes);
  return conv == nullptr ? 1 : choice_of(graph, node, *conv, target, limit, guess).share;
}

Graph choose_winograd(Graph graph, const Target& target, const ErrorRatios& limit, const SizeGuess& guess) {
  for (Node& node : graph.nodes) {
    auto* conv = std::get_if<ConvAttributes>(&node.attributes);
    if (auto* quantized = std::get_if<QuantizedConvAttributes>(&node.attributes);
        quantized != nullptr && quantized->is_scaled && !quantized->in_integers)
      conv = &quantized->conv;
    if (conv != nullptr) conv->winograd_tile = choice_of(graph, node, *conv, target, limit, guess).tile;
  }
  return graph;
}

}  // namespace ferry::graph
