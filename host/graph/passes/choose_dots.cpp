#include "host/graph/passes/choose_dots.h"

#include "crosscompile/passes/tensorize/dot_instructions.h"

namespace ferry::graph {
namespace {

constexpr std::uint32_t kGroup = 4;

}  // namespace

Graph choose_dots(Graph graph, const Target& target) {
  for (Node& node : graph.nodes) {
    auto* conv = std::get_if<QuantizedConvAttributes>(&node.attributes);
    const std::int64_t lanes = graph.tensor(node.outputs[0]).channel_block;
    if (conv == nullptr || lanes % kGroup != 0) continue;
    const DType x = graph.tensor(node.inputs[0]).dtype;
    const auto has = [&](DType left, DType right) {
      return passes::find_dot(target, DType::i32, left, right, static_cast<std::uint32_t>(lanes), kGroup) != nullptr;
    };
    if (has(x, DType::i8) || has(DType::i8, x)) conv->group = kGroup;
  }
  return graph;
}

}  // namespace ferry::graph
