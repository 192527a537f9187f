#include "host/graph/compile/tuned_algorithms.h"

#include "host/graph/compile/place_kernels.h"
#include "host/graph/passes/choose_winograd.h"

#include <algorithm>
#include <utility>

namespace ferry::graph {
namespace {

struct Choice {
  std::size_t member = 0;
  std::vector<ConvolutionAlgorithm> algorithms;
};

// Returns the choice of the only node of a group that may have one; without algorithms if it has none.
Choice choice_of(const Graph& graph, const Group& group, const Target& target, const Algorithms& allowed,
                 const SizeGuess& guess) {
  // With a convolution computed by Winograd's algorithm, a window would not be one kernel (passes/fuse_windows.h).
  const auto fuses_input = [&](std::size_t node) {
    const auto* conv = std::get_if<ConvAttributes>(&graph.nodes[node].attributes);
    return conv != nullptr && conv->fuses_input;
  };
  if (std::ranges::any_of(group.nodes, fuses_input)) return {};
  for (std::size_t member = 0; member < group.nodes.size(); ++member) {
    Choice choice{member,
                  convolution_algorithms(graph, graph.nodes[group.nodes[member]], target, allowed.max_error, guess)};
    if (!choice.algorithms.empty()) return choice;
  }
  return {};
}

bool may_choose(const Target& target, const Algorithms& allowed) {
  return target.graph_pass_groups.blocks && allowed.winograd;
}

}  // namespace

KernelAlgorithms algorithms_of(const Graph& graph, const NetworkKernels& kernels, std::size_t kernel,
                               const Target& target, const Algorithms& allowed,
                               const std::map<std::string, std::int64_t>& sizes) {
  KernelAlgorithms found;
  if (!may_choose(target, allowed) || kernels.device_of(kernel) != kTargetDevice) return found;
  const Group& group = kernels.calls[kernels.first_call[kernel]].group;
  const auto [member, algorithms] = choice_of(graph, group, target, allowed, SizeGuess(graph, sizes));
  if (algorithms.empty()) return found;
  KernelKey key = kernels.keys[kernel];
  std::int64_t* const tile = winograd_tile_of(key.nodes[member].attributes);
  const auto chosen = std::ranges::find(algorithms, *tile, &ConvolutionAlgorithm::winograd_tile);
  if (chosen == algorithms.end()) return found;
  for (const ConvolutionAlgorithm& other : algorithms) {
    if (other.winograd_tile == chosen->winograd_tile) continue;
    *tile = other.winograd_tile;
    std::string name =
        operators_of(graph, group, {{member, key.nodes[member].attributes}}) + "_" + std::to_string(kernel);
    std::optional<lang::Program> program = fixed_program(graph, kernels, kernel, key, name);
    if (!program) return {};
    found.others.push_back({algorithm_name(other.winograd_tile), std::move(name), *std::move(program),
                            other.cost / chosen->cost, other.winograd_tile});
  }
  if (found.others.empty()) return found;
  found.chosen = algorithm_name(chosen->winograd_tile);
  found.member = member;
  return found;
}

TunedGraph with_tuned_algorithms(const Graph& graph, const Target& target,
                                 const std::map<std::string, std::int64_t>& sizes, const Tuning& tuning) {
  TunedGraph tuned{graph, tuning.known};
  if (!tuning.algorithm || !may_choose(target, tuning.allowed)) return tuned;
  const NetworkKernels kernels = place_kernels(graph, target, sizes).kernels;
  for (std::size_t k = 0; k < kernels.programs.size(); ++k) {
    const KernelAlgorithms algorithms = algorithms_of(graph, kernels, k, target, tuning.allowed, sizes);
    if (algorithms.others.empty()) continue;
    const std::optional<lang::Program> program =
        fixed_program(graph, kernels, k, kernels.keys[k], kernels.programs[k].name);
    std::optional<TunedAlgorithm> found =
        program ? tuning.algorithm(*program, target, algorithms.others) : std::nullopt;
    if (!found) continue;
    const auto other = std::ranges::find(algorithms.others, found->algorithm, &AlgorithmProgram::algorithm);
    if (other == algorithms.others.end()) continue;
    for (const GroupCall& call : kernels.calls)
      if (call.kernel == k)
        *winograd_tile_of(tuned.graph.nodes[call.group.nodes[algorithms.member]].attributes) = other->winograd_tile;
    tuned.points.emplace(kernels.calls[kernels.first_call[k]].group.nodes.back(), std::move(found->point));
  }
  return tuned;
}

}  // namespace ferry::graph
