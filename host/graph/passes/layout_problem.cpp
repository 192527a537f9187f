#include "host/graph/passes/layout_problem.h"

#include "host/graph/passes/make_groups.h"
#include "host/graph/passes/minimum_cut.h"

#include <algorithm>
#include <optional>

namespace ferry::graph {
namespace {

constexpr std::size_t kNoIndex = SIZE_MAX;

}  // namespace

LayoutProblem layout_problem(const Graph& graph, std::int64_t lanes, const SizeGuess& guess) {
  const std::vector<Group> groups = make_groups(graph);
  std::vector<std::size_t> group_of(graph.nodes.size(), kNoIndex), writer(graph.tensors.size(), kNoIndex);
  const std::size_t plain = groups.size();
  LayoutProblem problem;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const std::size_t node : groups[g].nodes) {
      group_of[node] = g;
      for (const TensorId id : graph.nodes[node].outputs) writer[id] = g;
    }
    const std::optional<LayoutCosts> costs = layout_costs(graph, groups[g], lanes, guess);
    problem.groups.push_back({name_of(graph, groups[g]), costs.has_value(), costs.value_or(LayoutCosts())});
  }
  const auto join = [&](TensorId id, std::size_t reader) {
    const std::size_t from = writer[id] == kNoIndex ? plain : writer[id];
    if (from != reader) problem.conversions.push_back({from, reader, conversion_cost(graph, id, lanes, guess)});
  };
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    const std::size_t reader = group_of[n] == kNoIndex ? plain : group_of[n];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const TensorId id = node.inputs[i];
      if (id == kNoTensor || graph.tensor(id).constant != nullptr) continue;
      // An input that is read plain in either layout costs a conversion whenever its writer is blocked.
      if (reader == plain || reads_blocked(graph, node, i))
        join(id, reader);
      else
        join(id, plain);
    }
  }
  for (const TensorId id : graph.outputs) join(id, plain);
  return problem;
}

std::vector<bool> least_cost_layouts(const LayoutProblem& problem) {
  // All groups that must be plain, views, inputs and outputs are one more node of the cut.
  const std::size_t plain = problem.groups.size();
  constexpr double kNever = 1e30;
  MinimumCut cut(plain + 1);
  cut.add_node_cost(plain, kNever, 0);
  for (std::size_t g = 0; g < plain; ++g) {
    const GroupLayouts& group = problem.groups[g];
    cut.add_node_cost(g, group.may_be_blocked ? group.costs.blocked : kNever, group.costs.plain);
  }
  for (const LayoutConversion& conversion : problem.conversions)
    cut.add_pair_cost(conversion.one, conversion.other, conversion.cost);
  std::vector<bool> is_blocked = cut.solve();
  is_blocked.resize(plain);
  return is_blocked;
}

}  // namespace ferry::graph
