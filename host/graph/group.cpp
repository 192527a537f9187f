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

namespace {

// Returns what stands after the name of an operator that is not computed as it is defined.
std::string algorithm_of(const Attributes& attributes) {
  const auto* conv = std::get_if<ConvAttributes>(&attributes);
  const auto* quantized = std::get_if<QuantizedConvAttributes>(&attributes);
  const auto* matmul = std::get_if<QuantizedMatmulAttributes>(&attributes);
  if (quantized != nullptr) conv = &quantized->conv;
  if (conv != nullptr && conv->winograd_tile != 0) return "_winograd" + std::to_string(conv->winograd_tile);
  const bool is_in_floats = (quantized != nullptr && quantized->is_scaled && !quantized->in_integers) ||
                            (matmul != nullptr && matmul->is_scaled && !matmul->in_integers);
  return is_in_floats ? "_f32" : "";
}

}  // namespace

std::string operators_of(const Graph& graph, const Group& group) { return operators_of(graph, group, {}); }

std::string operators_of(const Graph& graph, const Group& group, const std::map<std::size_t, Attributes>& changed) {
  constexpr std::size_t kMostNames = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(group.nodes.size(), kMostNames); ++i) {
    const Node& node = graph.nodes[group.nodes[i]];
    text += (i == 0 ? "" : "_") + std::string(operator_name(node.op));
    const auto found = changed.find(i);
    text += algorithm_of(found == changed.end() ? node.attributes : found->second);
  }
  return text;
}

}  // namespace ferry::graph
