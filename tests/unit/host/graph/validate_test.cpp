#include <doctest/doctest.h>

#include "crosscompile/ir/error.h"
#include "host/graph/graph.h"

namespace ferry::graph {
namespace {

// relu(x + w) with x of [N,2].
Graph small_graph() {
  Graph graph;
  const auto bytes = std::make_shared<std::vector<std::uint8_t>>(8);
  const TensorId x = add_input(graph, "x", {DType::f32, {Size::symbol("N"), 2}});
  const TensorId w =
      add_constant(graph, "w", {DType::f32, {2}}, std::make_shared<ConstantData>(ConstantData{*bytes, bytes}));
  const TensorId sum = add_node(graph, {Operator::add, "sum", {x, w}, {}});
  graph.outputs = {add_node(graph, {Operator::relu, "y", {sum}, {}})};
  graph.output_names = {"y"};
  return graph;
}

TEST_CASE("a graph that was built step by step is valid") {
  const Graph graph = small_graph();
  CHECK_NOTHROW(validate(graph));
  CHECK(graph.symbols == std::vector<std::string>{"N"});
  CHECK(to_text(type_of(graph.tensor(graph.outputs[0]))) == "f32[N,2]");
}

TEST_CASE("a graph whose nodes are out of order is invalid") {
  Graph graph = small_graph();
  std::swap(graph.nodes[0], graph.nodes[1]);
  CHECK_THROWS_AS(validate(graph), InternalError);
}

TEST_CASE("a graph with an index out of range is invalid") {
  Graph graph = small_graph();
  graph.nodes[0].inputs[0] = kNoTensor;
  CHECK_THROWS_AS(validate(graph), InternalError);
  graph = small_graph();
  graph.outputs = {99};
  CHECK_THROWS_AS(validate(graph), InternalError);
}

TEST_CASE("a graph in which a tensor is written twice or never is invalid") {
  Graph graph = small_graph();
  graph.nodes[1].outputs = graph.nodes[0].outputs;
  CHECK_THROWS_AS(validate(graph), InternalError);
  graph = small_graph();
  graph.nodes.pop_back();
  CHECK_THROWS_AS(validate(graph), InternalError);
}

TEST_CASE("a graph with a wrong type is invalid") {
  Graph graph = small_graph();
  graph.tensors[graph.outputs[0]].shape = {2};
  CHECK_THROWS_AS(validate(graph), InternalError);
}

TEST_CASE("a graph with too few bytes for a constant, or a size of no input, is invalid") {
  Graph graph = small_graph();
  graph.tensors[1].shape = {3};
  CHECK_THROWS_AS(validate(graph), InternalError);
  graph = small_graph();
  graph.symbols.clear();
  CHECK_THROWS_AS(validate(graph), InternalError);
}

TEST_CASE("convolutions and matrix products count their multiply-adds") {
  Graph graph;
  const TensorId x = add_input(graph, "x", {DType::f32, {Size::symbol("N"), 3, 8, 8}});
  const TensorId w = add_input(graph, "w", {DType::f32, {16, 3, 3, 3}});
  const WindowAttributes window = {.kernel = 3};
  add_node(graph, {Operator::conv, "conv", {x, w}, {}, ConvAttributes{{window, window}}});
  CHECK(multiply_adds(graph, graph.nodes[0]) == Size::symbol("N") * (16 * 6 * 6 * 27));
  const TensorId a = add_input(graph, "a", {DType::f32, {5, 4, 6}}), b = add_input(graph, "b", {DType::f32, {4, 7}});
  add_node(graph, {Operator::matmul, "matmul", {a, b}, {}, MatmulAttributes{.transposed_a = true}});
  CHECK(multiply_adds(graph, graph.nodes[1]) == 5 * 6 * 7 * 4);
}

}  // namespace
}  // namespace ferry::graph
