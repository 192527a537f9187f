#include "host/graph/passes/fuse_windows.h"

#include "host/autoschedule/fused_window.h"
#include "host/graph/passes/make_groups.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace ferry::graph {
namespace {

bool wants_fusion(const Graph& graph, const Node& node, const ConvAttributes& conv, const Target& target) {
  const Tensor& image = graph.tensor(node.inputs[0]);
  if (image.channel_block == 1 || conv.groups == 1 || image.shape[1].constant() != conv.groups) return false;
  auto bytes = static_cast<std::int64_t>(dtype_bytes(image.dtype));
  for (std::size_t d = 1; d < image.shape.size(); ++d) bytes *= image.shape[d].constant().value_or(0);
  return autoschedule::wants_fused_window(bytes, target);
}

}  // namespace

Graph fuse_windows(Graph graph, const Target& target) {
  if (target.has_thread_blocks()) return graph;
  std::vector<std::size_t> windows;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    auto* conv = std::get_if<ConvAttributes>(&graph.nodes[n].attributes);
    if (conv == nullptr || graph.nodes[n].op != Operator::conv || !wants_fusion(graph, graph.nodes[n], *conv, target))
      continue;
    conv->fuses_input = true;
    windows.push_back(n);
  }
  if (windows.empty()) return graph;
  for (const Group& group : make_groups(graph)) {
    const auto is_conv = [&](std::size_t index) { return graph.nodes[index].op == Operator::conv; };
    if (std::ranges::count_if(group.nodes, is_conv) > 1)
      std::erase_if(windows, [&](std::size_t n) { return std::ranges::find(group.nodes, n) != group.nodes.end(); });
  }
  for (const std::size_t n : windows) std::get<ConvAttributes>(graph.nodes[n].attributes).fuses_input = false;
  return graph;
}

}  // namespace ferry::graph
