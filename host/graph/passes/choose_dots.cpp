#include "host/graph/passes/choose_dots.h"

#include "crosscompile/passes/tensorize/dot_instructions.h"
#include "crosscompile/passes/tensorize/tile_dot.h"
#include "host/graph/passes/blocked_groups.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace ferry::graph {
namespace {

using ops::IntegerFactors;
using ops::IntegerProducts;

// Numbers of bytes, and of int16, that instructions multiply and add at once.
constexpr std::uint32_t kBytes = 4, kPair = 2;

// Returns the products of X with weights of these types, for vectors of so many sums.
IntegerProducts products_of(const Target& target, DType x, DType weights, std::int64_t lanes) {
  const auto has = [&](DType one, DType two, std::uint32_t group) {
    const auto count = static_cast<std::uint32_t>(lanes);
    return lanes % group == 0 && passes::find_dot_of_factors(target, DType::i32, one, two, count, group) != nullptr;
  };
  const DType other = x == DType::u8 ? DType::i8 : DType::u8;
  for (const std::uint32_t group : {kBytes, kPair}) {
    if (has(x, weights, group)) return {IntegerFactors::bytes, group};
    if (has(other, weights, group)) return {IntegerFactors::flipped, group};
  }
  if (has(DType::i16, DType::i16, kPair)) return {IntegerFactors::int16, kPair};
  return {weights == DType::i16 ? IntegerFactors::int16 : IntegerFactors::bytes, 1};
}

// Returns the products of a convolution of each channel by itself, where no instruction adds those of several channels.
// With pairs, two products of int8 are added up in int16 if that cannot overflow; others are widened to int32.
IntegerProducts depthwise_products(const Target& target, DType x, DType weights, bool above_minimum) {
  if (weights == DType::i16) return {IntegerFactors::int16, 1};
  if (!adds_byte_pairs(target) || !above_minimum) return {IntegerFactors::bytes, 1};
  return {x == DType::i8 ? IntegerFactors::bytes : IntegerFactors::flipped, kPair, true};
}

// Whether int8 in a constant are all above -128.
bool is_above_minimum(const Tensor& weights) {
  constexpr std::uint8_t kMinimum = 0x80;
  return weights.dtype == DType::i8 && weights.constant != nullptr &&
         std::ranges::find(weights.constant->bytes, kMinimum) == weights.constant->bytes.end();
}

// Whether a sum fills most of a product of tiles.
bool is_long(const Size& depth) { return !depth.constant() || *depth.constant() * 4 >= passes::kTileDepth * 3; }

Size depth_of(const Graph& graph, const Node& node, const QuantizedMatmulAttributes& matmul) {
  return graph.tensor(node.inputs[1]).shape[matmul.matmul.transposed_b ? 1 : 0];
}

TensorId add_zero(Graph& graph, const std::string& name) {
  const auto data = std::make_shared<const std::vector<std::uint8_t>>(sizeof(std::int16_t));
  return add_constant(graph, name, {DType::i16, {}}, std::make_shared<const ConstantData>(ConstantData{*data, data}));
}

// Adds the zero point that factors of int16 need: without one to subtract, a default schedule would widen elements
// whenever they are multiplied.
void complete(Graph& graph, Node& node, const IntegerProducts& products, bool is_scaled) {
  if (products.factors == IntegerFactors::int16 && node.inputs.size() == zero_point_input(is_scaled))
    node.inputs.push_back(add_zero(graph, node.name));
}

}  // namespace

bool adds_byte_pairs(const Target& target) {
  return target.capabilities.neon_pairs || target.capabilities.neon_pairs_32bit;
}

DType bytes_of_products(const Target& target, DType x, DType weights) {
  const IntegerProducts products = products_of(target, x, weights, target.lanes(sizeof(std::int32_t)));
  if (products.factors != IntegerFactors::flipped) return x;
  return x == DType::u8 ? DType::i8 : DType::u8;
}

Graph choose_dots(Graph graph, const Target& target) {
  for (Node& node : graph.nodes) {
    const auto products = [&](std::int64_t lanes) {
      const Tensor& weights = graph.tensor(node.inputs[1]);
      IntegerProducts chosen = products_of(target, graph.tensor(node.inputs[0]).dtype, weights.dtype, lanes);
      if (chosen.factors != IntegerFactors::int16 && chosen.group == kPair)
        chosen.weights_above_minimum = is_above_minimum(weights);
      return chosen;
    };
    if (auto* conv = std::get_if<QuantizedConvAttributes>(&node.attributes)) {
      const std::int64_t lanes = graph.tensor(node.outputs[0]).channel_block;
      if (lanes == 1) continue;
      const Tensor &x = graph.tensor(node.inputs[0]), &weights = graph.tensor(node.inputs[1]);
      conv->products = is_depthwise(graph, node)
                           ? depthwise_products(target, x.dtype, weights.dtype, is_above_minimum(weights))
                           : products(lanes);
      complete(graph, node, conv->products, conv->is_scaled);
    } else if (auto* matmul = std::get_if<QuantizedMatmulAttributes>(&node.attributes)) {
      const std::int64_t lanes = target.lanes(sizeof(std::int32_t));
      IntegerProducts chosen = products(lanes);
      if (chosen.group == 1 || matmul->matmul.transposed_a) continue;
      if (chosen.group == kBytes && passes::has_tiles(target, DType::i32) && is_long(depth_of(graph, node, *matmul)))
        chosen.step = passes::kTileDepth;
      matmul->products = chosen;
      matmul->lanes = lanes;
      complete(graph, node, chosen, matmul->is_scaled);
    }
  }
  return graph;
}

}  // namespace ferry::graph
