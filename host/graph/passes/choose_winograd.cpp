#include "host/graph/passes/choose_winograd.h"

#include "host/autoschedule/winograd_choice.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace ferry::graph {
namespace {

bool is_plain_window(const WindowAttributes& window) {
  return window.kernel == 3 && window.stride == 1 && window.dilation == 1;
}

// Returns the sizes of a convolution of floats, or of integers if it is computed in floats; nothing if Winograd's
// algorithm does not apply.
std::optional<autoschedule::ConvolutionSizes> sizes_of(const Graph& graph, const Node& node, const ConvAttributes& conv,
                                                       const SizeGuess& guess) {
  const Tensor &x = graph.tensor(node.inputs[0]), &y = graph.tensor(node.outputs[0]);
  if (conv.groups != 1 || x.channel_block == 1 || y.channel_block == 1 ||
      !std::ranges::all_of(conv.windows, is_plain_window))
    return std::nullopt;
  return autoschedule::ConvolutionSizes{.images = guess.number(x.shape[0]),
                                        .channels = *x.shape[1].constant(),
                                        .filters = *y.shape[1].constant(),
                                        .height = guess.number(y.shape[2]),
                                        .width = guess.number(y.shape[3])};
}

autoschedule::WinogradChoice choice_of(const Graph& graph, const Node& node, const ConvAttributes& conv,
                                       const Target& target, const ErrorRatios& limit, const SizeGuess& guess) {
  const auto sizes = sizes_of(graph, node, conv, guess);
  if (!sizes) return {};
  return autoschedule::winograd_choice(*sizes, graph.tensor(node.outputs[0]).channel_block, target, limit);
}

}  // namespace

double winograd_share(const Graph& graph, const Node& node, const Target& target, const ErrorRatios& limit,
                      const SizeGuess& guess) {
  const auto* quantized = std::get_if<QuantizedConvAttributes>(&node.attributes);
  const auto* conv = quantized != nullptr ? &quantized->conv : std::get_if<ConvAttributes>(&node.attributes);
  return conv == nullptr ? 1 : choice_of(graph, node, *conv, target, limit, guess).share;
}

std::int64_t* winograd_tile_of(Attributes& attributes) {
  if (auto* conv = std::get_if<ConvAttributes>(&attributes)) return &conv->winograd_tile;
  auto* quantized = std::get_if<QuantizedConvAttributes>(&attributes);
  const bool is_in_floats = quantized != nullptr && quantized->is_scaled && !quantized->in_integers;
  return is_in_floats ? &quantized->conv.winograd_tile : nullptr;
}

std::string algorithm_name(std::int64_t winograd_tile) {
  return winograd_tile == 0 ? "direct" : "winograd" + std::to_string(winograd_tile);
}

std::vector<ConvolutionAlgorithm> convolution_algorithms(const Graph& graph, const Node& node, const Target& target,
                                                         const ErrorRatios& limit, const SizeGuess& guess) {
  Attributes attributes = node.attributes;
  if (winograd_tile_of(attributes) == nullptr || target.has_thread_blocks()) return {};
  const auto* quantized = std::get_if<QuantizedConvAttributes>(&node.attributes);
  const auto sizes =
      sizes_of(graph, node, quantized != nullptr ? quantized->conv : std::get<ConvAttributes>(node.attributes), guess);
  if (!sizes) return {};
  const autoschedule::ConvolutionCosts costs =
      autoschedule::convolution_costs(*sizes, graph.tensor(node.outputs[0]).channel_block, target, limit);
  if (costs.direct <= 0) return {};
  std::vector<ConvolutionAlgorithm> all{{0, costs.direct}, {2, costs.winograd2}, {4, costs.winograd4}};
  std::erase_if(all, [](const ConvolutionAlgorithm& one) { return !std::isfinite(one.cost); });
  return all;
}

Graph choose_winograd(Graph graph, const Target& target, const ErrorRatios& limit, const SizeGuess& guess) {
  for (Node& node : graph.nodes) {
    std::int64_t* tile = winograd_tile_of(node.attributes);
    if (tile == nullptr) continue;
    const auto* quantized = std::get_if<QuantizedConvAttributes>(&node.attributes);
    const ConvAttributes& conv = quantized != nullptr ? quantized->conv : std::get<ConvAttributes>(node.attributes);
    *tile = choice_of(graph, node, conv, target, limit, guess).tile;
  }
  return graph;
}

}  // namespace ferry::graph
