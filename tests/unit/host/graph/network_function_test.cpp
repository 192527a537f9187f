#include <doctest/doctest.h>

#include "host/graph/plan/network_function.h"

namespace ferry::graph {
namespace {

TEST_CASE("a network's function requires every size to be at least 1") {
  Graph graph;
  add_input(graph, "x", {DType::f32, {Size::symbol("N"), Size::symbol("M")}});
  const FunctionInfo function = describe(graph);
  REQUIRE(function.preconditions.size() == 2);
  CHECK(function.preconditions[1].message == "M must be at least 1");
  const auto holds = [&](std::int64_t n, std::int64_t m) {
    return evaluate(function.preconditions[1].condition, std::vector<std::int64_t>{n, m}).value();
  };
  CHECK(holds(0, 1) == 1);
  CHECK(holds(1, 0) == 0);
}

}  // namespace
}  // namespace ferry::graph
