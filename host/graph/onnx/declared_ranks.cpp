#include "host/graph/onnx/declared_ranks.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <string_view>

namespace ferry::graph::onnx {
namespace {

constexpr std::array<std::string_view, 18> kRankKeeping = {
    "Abs", "Cast", "Ceil", "Clip", "Dropout", "Exp",     "Floor",   "Identity", "LeakyRelu",
    "Log", "Neg",  "Not",  "Relu", "Round",   "Sigmoid", "Softmax", "Sqrt",     "Tanh"};
// A scalar result has scalar operands.
constexpr std::array<std::string_view, 5> kBroadcasting = {"Add", "Div", "Mul", "Pow", "Sub"};

}  // namespace

void spread_declared_ranks(ModelGraph& graph) {
  for (const ModelNode& node : graph.nodes | std::views::reverse) {
    const auto is_one_of = [&](const auto& names) { return std::ranges::find(names, node.op) != names.end(); };
    if (!node.domain.empty() || node.outputs.empty() || node.inputs.empty()) continue;
    const auto declared = graph.ranks.find(node.outputs[0]);
    if (declared == graph.ranks.end()) continue;
    const std::size_t rank = declared->second;
    if (is_one_of(kRankKeeping)) graph.ranks.try_emplace(node.inputs[0], rank);
    if (!is_one_of(kBroadcasting) || rank != 0) continue;
    for (const std::string& input : node.inputs) graph.ranks.try_emplace(input, rank);
  }
}

}  // namespace ferry::graph::onnx
