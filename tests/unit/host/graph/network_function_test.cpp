#include <doctest/doctest.h>

#include "host/graph/plan/network_function.h"
#include "tests/support/network_builder.h"

namespace ferry::graph {
namespace {

const Size n = Size::symbol("N"), m = Size::symbol("M");

// Returns the messages of the preconditions of a network with one node, whose first input is x[N,M].
std::string required(Operator op, const Attributes& attributes, const std::vector<TensorType>& others = {}) {
  test::NetworkBuilder network;
  std::vector<TensorId> inputs = {network.input("x", {n, m})};
  for (const TensorType& type : others)
    inputs.push_back(network.input("x" + std::to_string(inputs.size()), type.shape, type.dtype));
  network.output(network.node(op, inputs, attributes), "y");
  std::string text;
  for (const Precondition& precondition : describe_network(network.graph).preconditions)
    text += (text.empty() ? "" : "; ") + precondition.message;
  return text;
}

TEST_CASE("a network's function requires sizes to be at least 1 where nodes read places of them") {
  test::NetworkBuilder network;
  const TensorId x = network.input("x", {n, m});
  network.output(network.node(Operator::slice, {x}, SliceAttributes{{0, 0}, {1, 1}, {n, 1}}), "y");
  const FunctionInfo function = describe_network(network.graph);
  REQUIRE(function.preconditions.size() == 1);
  CHECK(function.preconditions[0].message == "M must be at least 1");
  const auto holds = [&](std::int64_t of_n, std::int64_t of_m) {
    return evaluate(function.preconditions[0].condition, std::vector<std::int64_t>{of_n, of_m}).value();
  };
  CHECK(holds(0, 1) == 1);
  CHECK(holds(1, 0) == 0);
}

TEST_CASE("a size may be 0 if all dimensions are sums or multiples of it, or independent of it") {
  CHECK(required(Operator::relu, {}).empty());
  CHECK(required(Operator::reduce_sum, ReduceAttributes{{0}}).empty());
  CHECK(required(Operator::matmul, MatmulAttributes{}, {{DType::f32, {m, 4}}}).empty());
  CHECK(required(Operator::reshape, ReshapeAttributes{{n * m}}).empty());
  CHECK(required(Operator::pad, PadAttributes{{0, 1}, {0, 0}}).empty());
  CHECK(required(Operator::concat, DimensionAttributes{0}, {{DType::f32, {3, m}}}).empty());
  CHECK(required(Operator::arg_max, ReduceAttributes{{1}}) == "M must be at least 1");
  CHECK(required(Operator::gather, DimensionAttributes{0}, {{DType::i64, {2}}}) == "N must be at least 1");
  CHECK(required(Operator::slice, SliceAttributes{{0, 0}, {1, -1}, {n, m}}) == "M must be at least 1");
}

}  // namespace
}  // namespace ferry::graph
