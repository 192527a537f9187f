#include "host/graph/passes/product_costs.h"

#include "crosscompile/passes/tensorize/dot_instructions.h"
#include "crosscompile/passes/tensorize/tile_dot.h"
#include "host/graph/passes/blocked_groups.h"
#include "host/graph/passes/choose_dots.h"
#include "host/graph/passes/choose_winograd.h"

#include <algorithm>
#include <cstdint>

namespace ferry::graph {
namespace {

// On RISC-V, wide registers of several parts and moves between them make a product of bytes take five times as many
// cycles as in float32 (docs/lab/boards.md), where two instructions are counted for each of its multiply-adds.
constexpr double kWideningTime = 2.5;

// Products of bytes in AMX's tiles of which half the rows and columns count, in the time of one dot instruction's.
constexpr double kTilesTimes = 4;

const passes::DotInstruction* dot_of(const Graph& graph, const Node& node, const ops::IntegerProducts& products,
                                     const Target& target) {
  if (products.group == 1) return nullptr;
  const auto* matmul = std::get_if<QuantizedMatmulAttributes>(&node.attributes);
  const std::int64_t lanes = matmul != nullptr ? matmul->lanes : graph.tensor(node.outputs[0]).channel_block;
  const auto find = [&](DType one, DType other) {
    return passes::find_dot_of_factors(target, DType::i32, one, other, static_cast<std::uint32_t>(lanes),
                                       static_cast<std::uint32_t>(products.group));
  };
  if (products.factors == ops::IntegerFactors::int16) return find(DType::i16, DType::i16);
  const DType weights = graph.tensor(node.inputs[1]).dtype;
  DType x = graph.tensor(node.inputs[0]).dtype;
  if (products.factors == ops::IntegerFactors::flipped) x = x == DType::u8 ? DType::i8 : DType::u8;
  return find(x, weights);
}

// Whether the operands lie so that AMX's tiles multiply them (host/autoschedule/tile_products.h).
bool is_in_tiles(const Graph& graph, const Node& node, const ops::IntegerProducts& products, const Target& target) {
  if (!passes::has_tiles(target, DType::i32) || products.group != passes::kGroupBytes) return false;
  if (node.op != Operator::quantized_conv) return products.step == passes::kTileDepth;
  return graph.tensor(node.inputs[0]).channel_block == passes::kTileDepth;
}

// Whether its vectors multiply bytes only after each was widened by itself.
bool widens_bytes(const Target& target) {
  return target.lanes(sizeof(float)) > 1 &&
         std::ranges::none_of(passes::dot_instructions(), [&](const passes::DotInstruction& dot) {
           return dot.sum == DType::i32 && target.capabilities.*dot.needs;
         });
}

}  // namespace

const ops::IntegerProducts* scaled_products_of(const Node& node) {
  if (const auto* conv = std::get_if<QuantizedConvAttributes>(&node.attributes))
    return conv->is_scaled ? &conv->products : nullptr;
  if (const auto* matmul = std::get_if<QuantizedMatmulAttributes>(&node.attributes))
    return matmul->is_scaled ? &matmul->products : nullptr;
  return nullptr;
}

bool is_in_floats(const Node& node) {
  const auto* conv = std::get_if<QuantizedConvAttributes>(&node.attributes);
  const auto* matmul = std::get_if<QuantizedMatmulAttributes>(&node.attributes);
  return (conv != nullptr && conv->is_scaled && !conv->in_integers) ||
         (matmul != nullptr && matmul->is_scaled && !matmul->in_integers);
}

ProductCosts product_costs(const Graph& graph, const Node& node, const Target& target) {
  const double lanes = target.lanes(sizeof(float));
  ProductCosts costs{2 / lanes, (target.capabilities.fma ? 1 : 2) / lanes};
  const ops::IntegerProducts* products = scaled_products_of(node);
  if (products != nullptr && is_depthwise(graph, node)) {
    // Two products take two instructions for a register of int16, and two more add its halves to the sums.
    if (products->group == 2) costs.integers = 1 / lanes;
    return costs;
  }
  const passes::DotInstruction* dot = products != nullptr ? dot_of(graph, node, *products, target) : nullptr;
  if (dot != nullptr) {
    // Two pairs of products that are added up first take three instructions.
    constexpr double kOfMerged = 1.5;
    const double instructions = products->weights_above_minimum ? kOfMerged : dot->instructions;
    costs.integers = instructions / (static_cast<double>(dot->lanes) * dot->group);
    if (is_in_tiles(graph, node, *products, target)) costs.integers /= kTilesTimes;
  }
  return costs;
}

ProductTimes product_times(const Graph& graph, const Node& node, const Target& target, const ErrorRatios* winograd,
                           const SizeGuess& guess) {
  const double work = guess(multiply_adds(graph, node));
  const ProductCosts costs = product_costs(graph, node, target);
  ProductTimes times{work * costs.integers / costs.floats, work};
  if (widens_bytes(target)) times.integers *= kWideningTime;
  const auto elements = [&](TensorId id) { return guess(element_count(graph.tensor(id).shape)); };
  constexpr double kBytes = sizeof(float);
  if (node.op == Operator::quantized_conv) {
    // The additions of pairs run beside the multiplications, which take the time.
    const ops::IntegerProducts& products = *scaled_products_of(node);
    if (products.weights_above_minimum && products.group == 2 && !is_depthwise(graph, node)) times.integers /= 1.5;
    if (winograd != nullptr) times.floats *= winograd_share(graph, node, target, *winograd, guess);
  } else {
    const double weights = elements(node.inputs[1]) * kMultiplyAddsPerByte;
    times.integers += weights;
    times.floats += weights * kBytes;
  }
  // Bytes are read, and floats written and read.
  times.floats += elements(node.inputs[0]) * (1 + 2 * kBytes) * kMultiplyAddsPerByte;
  return times;
}

}  // namespace ferry::graph
