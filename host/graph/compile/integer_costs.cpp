#include "host/graph/compile/integer_costs.h"

#include "base/printable.h"
#include "base/quantity_text.h"
#include "host/graph/passes/blocked_groups.h"
#include "host/graph/passes/product_costs.h"

#include <utility>

namespace ferry::graph {
namespace {

// Returns "3 of 20 convolutions and products of 8-bit integers, '/Conv_3' among them, ", which a verb follows.
std::string subject(std::size_t count, std::size_t nodes, const Node& first) {
  return std::to_string(count) + " of " + std::to_string(nodes) +
         (nodes == 1 ? " product" : " convolutions and products") + " of 8-bit integers, '" + printable(first.name) +
         (count == 1 ? "'" : "' among them") + ", ";
}

// Returns a sentence about the nodes that are computed in float32; empty if there are none.
std::string note_on_floats(const Graph& graph, const Target& target, const SizeGuess& guess) {
  ProductTimes times;
  std::size_t nodes = 0, count = 0;
  const Node* first = nullptr;
  for (const Node& node : graph.nodes) {
    if (scaled_products_of(node) == nullptr) continue;
    ++nodes;
    if (!is_in_floats(node)) continue;
    ++count;
    if (first == nullptr) first = &node;
    const ProductTimes here = product_times(graph, node, target, &kMaxErrorRatios, guess);
    times = {times.integers + here.integers, times.floats + here.floats};
  }
  if (count == 0) return "";
  return subject(count, nodes, *first) + (count == 1 ? "is" : "are") + " computed in float32, which takes about " +
         number_text(times.floats / times.integers, 2) +
         " times the time by an estimate; --int8 always sums up integers instead";
}

}  // namespace

std::vector<std::string> notes_on_integers(const Graph& graph, const Target& target, const SizeGuess& guess) {
  if (!target.graph_pass_groups.integers) return {};
  ProductCosts all, dearer;
  std::size_t nodes = 0, count = 0;
  const Node* first = nullptr;
  for (const Node& node : graph.nodes) {
    if (scaled_products_of(node) == nullptr || is_in_floats(node)) continue;
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
  std::vector<std::string> notes;
  if (std::string text = note_on_floats(graph, target, guess); !text.empty()) notes.push_back(std::move(text));
  if (count == 0) return notes;
  std::string text = subject(count, nodes, *first) + (count == 1 ? "takes" : "take") + " about " +
                     number_text(dearer.integers / dearer.floats, 2) + " times" +
                     " the instructions of float32 on this target, where no instruction sums up their products";
  if (count < nodes) text += "; all of them take " + number_text(all.integers / all.floats, 2) + " times";
  if (all.integers > all.floats) text += "; --int8 off computes in float32";
  notes.push_back(std::move(text));
  return notes;
}

}  // namespace ferry::graph
