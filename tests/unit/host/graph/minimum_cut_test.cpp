#include "host/graph/passes/minimum_cut.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>

using ferry::graph::MinimumCut;

TEST_CASE("labels that cost less win unless neighbours differ too much") {
  MinimumCut cut(3);
  cut.add_node_cost(0, 0, 10);
  cut.add_node_cost(1, 5, 4);
  cut.add_node_cost(2, 10, 0);
  SUBCASE("far apart") { CHECK(cut.solve() == std::vector<bool>{true, false, false}); }
  SUBCASE("tied to the first") {
    cut.add_pair_cost(0, 1, 3);
    CHECK(cut.solve() == std::vector<bool>{true, true, false});
  }
  SUBCASE("tied to both") {
    cut.add_pair_cost(0, 1, 3);
    cut.add_pair_cost(1, 2, 3);
    CHECK(cut.solve() == std::vector<bool>{true, false, false});
  }
}

TEST_CASE("equal costs give the second label") {
  MinimumCut cut(2);
  cut.add_node_cost(0, 2, 2);
  CHECK(cut.solve() == std::vector<bool>{false, false});
}

TEST_CASE("costs that a node has with either label take no time") {
  constexpr std::size_t kNodes = 30'000;
  MinimumCut cut(kNodes);
  for (std::size_t node = 0; node < kNodes; ++node) {
    cut.add_node_cost(node, 5, 5);
    if (node > 0) cut.add_pair_cost(node - 1, node, 1);
  }
  cut.add_node_cost(kNodes - 1, 0, 10);
  std::vector<bool> expected(kNodes, true);
  CHECK(cut.solve() == expected);
}

TEST_CASE("no other labels cost less than those of a minimum cut") {
  std::mt19937 random(1);
  constexpr std::size_t kNodes = 7;
  for (int round = 0; round < 50; ++round) {
    struct Pair {
      std::size_t a, b;
      double cost;
    };
    std::vector<std::pair<double, double>> costs;
    std::vector<Pair> pairs;
    MinimumCut cut(kNodes);
    for (std::size_t node = 0; node < kNodes; ++node) {
      costs.emplace_back(random() % 20, random() % 20);
      cut.add_node_cost(node, costs.back().first, costs.back().second);
    }
    for (int pair = 0; pair < 9; ++pair) {
      pairs.push_back({random() % kNodes, random() % kNodes, static_cast<double>(random() % 15)});
      cut.add_pair_cost(pairs.back().a, pairs.back().b, pairs.back().cost);
    }
    const auto cost_of = [&](const auto& is_first) {
      double cost = 0;
      for (std::size_t node = 0; node < kNodes; ++node) cost += is_first(node) ? costs[node].first : costs[node].second;
      for (const Pair& pair : pairs)
        if (is_first(pair.a) != is_first(pair.b)) cost += pair.cost;
      return cost;
    };
    double least = std::numeric_limits<double>::infinity();
    for (unsigned labels = 0; labels < (1U << kNodes); ++labels)
      least = std::min(least, cost_of([&](std::size_t node) { return (labels >> node & 1U) != 0; }));
    const std::vector<bool> solved = cut.solve();
    CHECK(cost_of([&](std::size_t node) { return static_cast<bool>(solved[node]); }) == least);
  }
}
