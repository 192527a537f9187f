// The choice of layouts as a cut: each group of nodes is plain or has its images in blocks, and images that groups of
// different layouts pass on are converted.
#pragma once

#include "host/graph/passes/blocked_groups.h"
#include "host/graph/passes/size_guess.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ferry::graph {

struct GroupLayouts {
  std::string name;             // those of the nodes
  bool may_be_blocked = false;  // otherwise it is plain, and its cost is 0
  LayoutCosts costs;
};

// How much more two groups cost if their layouts differ.
struct LayoutConversion {
  std::size_t one = 0, other = 0;  // the number of groups stands for inputs, outputs and all that must be plain
  double cost = 0;
};

struct LayoutProblem {
  std::vector<GroupLayouts> groups;  // as make_groups() returns them
  std::vector<LayoutConversion> conversions;
};

LayoutProblem layout_problem(const Graph& graph, std::int64_t lanes, const SizeGuess& guess);

// Returns for each group whether it has blocks, at the least cost.
std::vector<bool> least_cost_layouts(const LayoutProblem& problem);

}  // namespace ferry::graph
