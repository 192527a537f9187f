#include "host/graph/compile/graph_passes.h"

#include <utility>

#include "host/graph/compile/alias_moves.h"
#include "host/graph/passes/choose_bytes.h"
#include "host/graph/passes/choose_dots.h"
#include "host/graph/passes/choose_integers.h"
#include "host/graph/passes/choose_layouts.h"
#include "host/graph/passes/choose_winograd.h"
#include "host/graph/passes/fold_batch_norms.h"
#include "host/graph/passes/fuse_attention.h"
#include "host/graph/passes/fuse_windows.h"
#include "host/graph/passes/hoist_invariants.h"
#include "host/graph/passes/merge_equal_nodes.h"
#include "host/graph/passes/multiply_reciprocals.h"
#include "host/graph/passes/pool_integers.h"
#include "host/graph/passes/quantize_products.h"
#include "host/graph/passes/quantize_rows.h"
#include "host/graph/passes/remove_moves.h"
#include "host/graph/passes/repeat_dequantization.h"
#include "host/graph/passes/sum_blocks.h"
#include "host/graph/passes/widen_floats.h"
#include "host/graph/reference/fold_constants.h"

namespace ferry::graph {
namespace {

using Groups = GraphPassGroups;

constexpr GraphPass kPasses[] = {
    {"widen_floats", "computes networks of narrow floats in `float32`",
     [](Graph g, const Target&, const Algorithms&, const SizeGuess&) { return widen_floats(g); }, &Groups::float32},
    // Folds moves of constants, so that the pass after the next finds equal ones.
    {"remove_moves", "removes transposes, reshapes and copies that change nothing, and folds those of constants",
     [](Graph g, const Target&, const Algorithms&, const SizeGuess&) { return remove_moves(std::move(g)); }},
    {"fold_constants", "computes what depends on constants alone, unless that takes more memory",
     [](Graph g, const Target&, const Algorithms&, const SizeGuess&) { return fold_constants(std::move(g)); }},
    {"hoist_invariants", "moves what is the same in all iterations of a loop in front of it",
     [](Graph g, const Target&, const Algorithms&, const SizeGuess&) { return hoist_invariants(std::move(g)); }},
    {"merge_equal_nodes", "merges equal constants, and nodes that compute the same of the same inputs",
     [](Graph g, const Target&, const Algorithms&, const SizeGuess&) { return merge_equal_nodes(std::move(g)); }},
    {"fold_batch_norms", "folds batch normalisations into the weights of the convolution or product before them",
     [](Graph g, const Target&, const Algorithms&, const SizeGuess&) { return fold_batch_norms(std::move(g)); }},
    {"multiply_reciprocals", "multiplies what `erf` is computed of by reciprocals of constants, in place of divisions",
     [](Graph g, const Target&, const Algorithms&, const SizeGuess&) { return multiply_reciprocals(std::move(g)); }},
    {"sum_blocks", "sums up blocks of weights of few bits before they are scaled",
     [](Graph g, const Target&, const Algorithms&, const SizeGuess&) { return sum_blocks(std::move(g)); },
     &Groups::float32},
    {"quantize_rows", "rounds rows to int8 that weights of few bits multiply, where the network allows it",
     [](Graph g, const Target& target, const Algorithms&, const SizeGuess&) {
       return quantize_rows(std::move(g), target);
     },
     &Groups::integers, &Algorithms::int8},
    {"quantize_products", "sums up products of dequantized 8-bit integers as integers",
     [](Graph g, const Target&, const Algorithms&, const SizeGuess&) { return quantize_products(std::move(g)); },
     &Groups::integers, &Algorithms::int8},
    {"pool_integers", "takes maxima of bytes before they are dequantized",
     [](Graph g, const Target&, const Algorithms&, const SizeGuess&) { return pool_integers(g); }, &Groups::integers,
     &Algorithms::int8},
    {"repeat_dequantization", "dequantizes a tensor anew for each elementwise node that reads it",
     [](Graph g, const Target&, const Algorithms&, const SizeGuess&) { return repeat_dequantization(g); },
     &Groups::integers, &Algorithms::int8},
    {"choose_bytes",
     "moves activations of bytes by 128 where they are written, if products take the other type of bytes",
     [](Graph g, const Target& target, const Algorithms&, const SizeGuess&) { return choose_bytes(g, target); },
     &Groups::integers, &Algorithms::int8},
    {"choose_layouts", "stores images with their channels in blocks of one vector where that is faster",
     [](Graph g, const Target& target, const Algorithms& algorithms, const SizeGuess& guess) {
       const std::int64_t lanes = channels_in_block(g, target, guess);
       return lanes > 1 ? choose_layouts(g, lanes, guess, algorithms.layouts) : g;
     },
     &Groups::blocks},
    {"choose_dots", "chooses the instructions by which products of bytes on blocks are summed up",
     [](Graph g, const Target& target, const Algorithms&, const SizeGuess&) {
       return choose_dots(std::move(g), target);
     },
     &Groups::blocks},
    {"choose_integers", "computes products of bytes in `float32` where that takes less time",
     [](Graph g, const Target& target, const Algorithms& algorithms, const SizeGuess& guess) {
       return choose_integers(std::move(g), target, algorithms.winograd ? &algorithms.max_error : nullptr, guess);
     },
     &Groups::blocks, &Algorithms::float32},
    {"choose_winograd", "computes convolutions of 3 x 3 on blocks with Winograd's algorithm where that is faster",
     [](Graph g, const Target& target, const Algorithms& algorithms, const SizeGuess& guess) {
       return choose_winograd(std::move(g), target, algorithms.max_error, guess);
     },
     &Groups::blocks, &Algorithms::winograd},
    {"fuse_windows", "computes depthwise convolutions in one kernel with the convolution that they read",
     [](Graph g, const Target& target, const Algorithms&, const SizeGuess&) {
       return fuse_windows(std::move(g), target);
     },
     &Groups::blocks},
    {"fuse_attention", "computes attention in one kernel, by blocks of rows, where its scores exceed the caches",
     [](Graph g, const Target& target, const Algorithms&, const SizeGuess&) {
       return fuse_attention(std::move(g), target);
     },
     &Groups::blocks},
    {"alias_moves", "finds concats and slices that move nothing",
     [](Graph g, const Target& target, const Algorithms&, const SizeGuess&) {
       return alias_moves(std::move(g), target.tensor_alignment);
     }},
};

bool runs(const GraphPass& pass, const Target& target, const Algorithms& algorithms) {
  return (pass.group == nullptr || target.graph_pass_groups.*pass.group) &&
         (pass.algorithm == nullptr || algorithms.*pass.algorithm);
}

}  // namespace

std::span<const GraphPass> graph_passes() { return kPasses; }

Graph optimized(Graph graph, const Target& target, const Algorithms& algorithms,
                const std::map<std::string, std::int64_t>& sizes,
                const std::function<void(std::string_view pass, const Graph&)>& after) {
  validate(graph);
  const SizeGuess guess(graph, sizes);
  for (const GraphPass& pass : graph_passes()) {
    if (runs(pass, target, algorithms)) {
      graph = pass.run(std::move(graph), target, algorithms, guess);
      validate(graph);
    }
    if (after) after(pass.name, graph);
  }
  return graph;
}

}  // namespace ferry::graph
