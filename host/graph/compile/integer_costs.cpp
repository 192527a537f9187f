#include "host/graph/compile/integer_costs.h"

#include "base/printable.h"
#include "base/quantity_text.h"
#include "crosscompile/passes/tensorize/dot_instructions.h"
#include "host/graph/passes/blocked_groups.h"

#include <cstdint>

namespace ferry::graph {
namespace {

// Returns how scaled products of integers are computed; null for other nodes.
const ops::IntegerProducts* scaled_products_of(const Node& node) {
  if (const auto* conv = std::get_if<QuantizedConvAttributes>(&node.attributes))
    return conv->is_scaled && conv->in_integers ? &conv->products : nullptr;
  if (const auto* matmul = std::get_if<QuantizedMatmulAttributes>(&node.attributes))
    return matmul->is_scaled && matmul->in_integers ? &matmul->products : nullptr;
  return nullptr;
}

const passes::DotInstruction* dot_of(const Graph& graph, const Node& node, const ops::IntegerProducts& products,
                                     const Target& target) {
  if (products.group == 1) return nullptr;
  const auto* matmul = std::get_if<QuantizedMatmulAttributes>(&node.attributes);
  const std::int64_t lanes = matmul != nullptr ? matmul->lanes : graph.tensor(node.outputs[0]).channel_block;
  const auto find = [&](DType left, DType right) {
    return passes::find_dot(target, DType::i32, left, right, static_cast<std::uint32_t>(lanes),
                            static_cast<std::uint32_t>(products.group));
  };
  if (products.factors == ops::IntegerFactors::int16) return find(DType::i16, DType::i16);
  const DType weights = graph.tensor(node.inputs[1]).dtype;
  DType x = graph.tensor(node.inputs[0]).dtype;
  if (products.factors == ops::IntegerFactors::flipped) x = x == DType::u8 ? DType::i8 : DType::u8;
  const passes::DotInstruction* found = find(x, weights);
  return found != nullptr ? found : find(weights, x);
}

}  // namespace

ProductCosts product_costs(const Graph& graph, const Node& node, const Target& target) {
  const double lanes = target.lanes(sizeof(float));
  ProductCosts costs{2 / lanes, (target.capabilities.fma ? 1 : 2) / lanes};
  const ops::IntegerProducts* products = scaled_products_of(node);
  const passes::DotInstruction* dot = products != nullptr ? dot_of(graph, node, *products, target) : nullptr;
  if (dot != nullptr) {
    // Two pairs of products that are added up first take three instructions.
    constexpr double kOfMerged = 1.5;
    const double instructions = products->weights_above_minimum ? kOfMerged : dot->instructions;
    costs.integers = instructions / (static_cast<double>(dot->lanes) * dot->group);
  }
  return costs;
}

std::vector<std::string> notes_on_integers(const Graph& graph, const Target& target) {
  if (!target.graph_pass_groups.integers) return {};
  ProductCosts all, dearer;
  std::size_t nodes = 0, count = 0;
  const Node* first = nullptr;
  for (const Node& node : graph.nodes) {
    if (scaled_products_of(node) == nullptr) continue;
    const double work = guess(multiply_adds(graph, node));
    const ProductCosts costs = product_costs(graph, node, target);
    const ProductCosts here{work * costs.integers, work * costs.floats};
    ++nodes;
    all = {all.integers + here.integers, all.floats + here.floats};
    if (costs.integers <= costs.floats) continue;
    ++count;
    dearer = {dearer.integers + here.integers, dearer.floats + here.floats};
    if (first == nullptr) first = &node;
  }
  if (count == 0) return {};
  std::string text = std::to_string(count) + " of " + std::to_string(nodes) +
                     (nodes == 1 ? " product" : " convolutions and products") + " of 8-bit integers, '" +
                     printable(first->name) + (count == 1 ? "', takes" : "' among them, take") + " about " +
                     number_text(dearer.integers / dearer.floats, 2) + " times" +
                     " the instructions of float32 on this target, where no instruction sums up their products";
  if (count < nodes) text += "; all of them take " + number_text(all.integers / all.floats, 2) + " times";
  if (all.integers > all.floats) text += "; --int8 off computes in float32";
  return {text};
}

}  // namespace ferry::graph
