#include "host/graph/group.h"

#include <algorithm>

namespace ferry::graph {

TensorId output_of(const Graph& graph, const Group& group) { return graph.nodes[group.nodes.back()].outputs.front(); }

std::string joined_names(const std::string& first, const std::string& next) {
  const std::size_t path = next.ends_with('/') ? std::string::npos : next.rfind('/');
  return first + "+" + (path == std::string::npos ? next : next.substr(path + 1));
}

std::string name_of(const Graph& graph, const Group& group) {
  std::string text;
  const std::string* last = nullptr;
  for (const std::size_t index : group.nodes) {
    const std::string& name = graph.nodes[index].name;
    if (last != nullptr && name == *last) continue;
    text = last == nullptr ? name : joined_names(text, name);
    last = &name;
  }
  return text;
}

std::string operators_of(const Graph& graph, const Group& group) {
  constexpr std::size_t kMostNames = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(group.nodes.size(), kMostNames); ++i) {
    const Node& node = graph.nodes[group.nodes[i]];
    text += (i == 0 ? "" : "_") + std::string(operator_name(node.op));
    if (const auto* conv = std::get_if<ConvAttributes>(&node.attributes); conv != nullptr && conv->winograd_tile != 0)
      text += "_winograd" + std::to_string(conv->winograd_tile);
  }
  return text;
}

}  // namespace ferry::graph
