// The passes that make networks smaller: what is left of small networks, and that they still compute the same.
#include <doctest/doctest.h>

#include "host/graph/graph_text.h"
#include "host/graph/passes/fold_batch_norms.h"
#include "host/graph/passes/merge_equal_nodes.h"
#include "host/graph/passes/multiply_reciprocals.h"
#include "host/graph/passes/remove_moves.h"
#include "host/graph/reference/definition.h"
#include "tests/support/network_builder.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

using namespace ferry;
using namespace ferry::graph;
using test::NetworkBuilder;

namespace {

std::vector<std::string> operators_left(const Graph& graph) {
  validate(graph);
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(operator_name(node.op));
  return names;
}

// Compares the outputs of two networks with the same inputs, of floats without open sizes, for random contents.
void check_same(const Graph& before, const Graph& after) {
  std::vector<std::vector<std::byte>> inputs;
  for (const TensorId id : before.inputs) {
    const auto count = static_cast<std::size_t>(*element_count(before.tensor(id).shape).constant());
    inputs.emplace_back(count * sizeof(float));
    fill(FillKind::random, 5 + inputs.size(), DType::f32, 0, count, inputs.back().data());
  }
  const auto old = evaluate(before, {}, inputs), now = evaluate(after, {}, inputs);
  REQUIRE(before.outputs.size() == after.outputs.size());
  for (std::size_t o = 0; o < before.outputs.size(); ++o) {
    const std::vector<std::byte>&a = old[before.outputs[o]], &b = now[after.outputs[o]];
    REQUIRE(a.size() == b.size());
    REQUIRE(!a.empty());
    for (std::size_t i = 0; i < a.size(); i += sizeof(float)) {
      float x = 0, y = 0;
      std::memcpy(&x, a.data() + i, sizeof x);
      std::memcpy(&y, b.data() + i, sizeof y);
      CHECK(x == doctest::Approx(y).epsilon(1e-5));
    }
  }
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("transposes that follow each other become one, and none if they cancel") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {2, 3, 4});
  const TensorId there = network.node(Operator::transpose, {x}, TransposeAttributes{{1, 2, 0}});
  const TensorId back = network.node(Operator::transpose, {there}, TransposeAttributes{{2, 0, 1}});
  const TensorId other = network.node(Operator::transpose, {there}, TransposeAttributes{{0, 2, 1}});
  network.output(network.node(Operator::neg, {back}), "y");
  network.output(other, "z");
  const Graph after = remove_moves(network.graph);
  CHECK(operators_left(after) == Names{"transpose", "neg"});
  CHECK(std::get<TransposeAttributes>(after.nodes[0].attributes).order == std::vector<std::size_t>{1, 0, 2});
  check_same(network.graph, after);
}

TEST_CASE("transposes of constants are constants, and those of dimensions of size 1 reshapes") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {2, 1, 4});
  const TensorId weights =
      network.node(Operator::transpose, {network.weights("w", {4, 3, 2})}, TransposeAttributes{{2, 1, 0}});
  const TensorId moved = network.node(Operator::transpose, {x}, TransposeAttributes{{1, 0, 2}});
  network.output(network.node(Operator::add, {x, weights}), "y");
  network.output(network.node(Operator::neg, {moved}), "z");
  const Graph after = remove_moves(network.graph);
  CHECK(operators_left(after) == Names{"reshape", "add", "neg"});
  check_same(network.graph, after);
}

TEST_CASE("nodes that change nothing go, and their results may be outputs") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {2, 6});
  TensorId y = network.node(Operator::reshape, {x}, ReshapeAttributes{{3, 4}});
  y = network.node(Operator::reshape, {y}, ReshapeAttributes{{2, 6}});
  y = network.node(Operator::cast, {y}, CastAttributes{DType::f32});
  y = network.node(Operator::broadcast, {y}, BroadcastAttributes{{2, 6}});
  y = network.node(Operator::slice, {y}, SliceAttributes{{0, 0}, {1, 1}, {2, 6}});
  y = network.node(Operator::pad, {y}, PadAttributes{{0, 0}, {0, 0}, 3});
  y = network.node(Operator::concat, {y}, DimensionAttributes{0});
  network.output(y, "y");
  network.output(network.node(Operator::slice, {y}, SliceAttributes{{1, 5}, {-1, -1}, {2, 6}}), "reversed");
  const Graph after = remove_moves(network.graph);
  CHECK(operators_left(after) == Names{"slice"});
  CHECK(after.outputs[0] == after.inputs[0]);
  check_same(network.graph, after);
}

TEST_CASE("equal nodes of equal inputs are one") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {2, 3});
  const auto part = [&](float number) {
    const TensorId constant = network.constant<float>("c", {}, {number}, DType::f32);
    return network.node(Operator::relu, {network.node(Operator::mul, {x, constant})});
  };
  const TensorId a = part(2), b = part(2), c = part(3);
  network.output(network.node(Operator::add, {network.node(Operator::sub, {a, b}), c}), "y");
  network.output(network.node(Operator::reduce_sum, {x}, ReduceAttributes{{0}, false}), "rows");
  network.output(network.node(Operator::reduce_sum, {x}, ReduceAttributes{{1}, false}), "columns");
  const Graph after = merge_equal_nodes(network.graph);
  CHECK(operators_left(after) == Names{"mul", "relu", "mul", "relu", "sub", "add", "reduce_sum", "reduce_sum"});
  check_same(network.graph, after);
}

TEST_CASE("nodes that differ in their attributes alone, and constants of one size, are merged in linear time") {
  constexpr std::int64_t kNodes = 20'000;
  NetworkBuilder network;
  const TensorId x = network.input("x", {kNodes, 4});
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < kNodes; ++i) {
    const TensorId row = network.node(Operator::slice, {x}, SliceAttributes{{i / 2, 0}, {1, 1}, {1, 4}});
    const TensorId number = network.constant<float>("c", {}, {static_cast<float>(i / 2)}, DType::f32);
    network.output(network.node(Operator::mul, {row, number}), "y" + std::to_string(i));
  }
  const auto built = std::chrono::steady_clock::now();
  const Graph after = merge_equal_nodes(network.graph);
  const auto merged = std::chrono::steady_clock::now();
  CHECK(after.nodes.size() == kNodes);
  CHECK(merged - built < 10 * (built - begin) + std::chrono::seconds(1));
}

TEST_CASE("batch normalisations become a part of the weights before them") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {2, 4, 5, 5});
  const ConvAttributes conv = {{{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}, 2};
  const auto normed = [&](TensorId in, std::int64_t channels) {
    return network.node(Operator::batch_norm,
                        {in, network.weights("scale", {channels}, 1, 2), network.weights("bias", {channels}),
                         network.weights("mean", {channels}), network.weights("variance", {channels}, 0.5F, 1)},
                        BatchNormAttributes{0.01}, "/layer/norm");
  };
  const TensorId plain = network.node(Operator::conv, {x, network.weights("w", {6, 2, 3, 3})}, conv, "/layer/conv");
  const TensorId biased =
      network.node(Operator::conv, {x, network.weights("v", {6, 2, 3, 3}), network.weights("b", {6})}, conv);
  network.output(network.node(Operator::add, {normed(plain, 6), normed(normed(biased, 6), 6)}), "y");
  const TensorId rows = network.node(Operator::reshape, {x}, ReshapeAttributes{{10, 20}});
  network.output(normed(network.node(Operator::matmul, {rows, network.weights("a", {20, 3})}, MatmulAttributes{}), 3),
                 "z");
  network.output(
      normed(network.node(Operator::matmul, {rows, network.weights("c", {3, 20})}, MatmulAttributes{false, true}), 3),
      "t");
  const Graph after = fold_batch_norms(network.graph);
  CHECK(operators_left(after) == Names{"conv", "conv", "add", "reshape", "matmul", "add", "matmul", "add"});
  CHECK(after.nodes[0].name == "/layer/conv+norm");
  check_same(network.graph, after);
}

TEST_CASE("a batch normalisation of no channels stays") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {2, 4, 5, 5}), none = network.weights("none", {0});
  const TensorId conv =
      network.node(Operator::conv, {x, network.weights("w", {0, 4, 1, 1})}, ConvAttributes{{{}, {}}, 1});
  network.output(network.node(Operator::batch_norm, {conv, none, none, none, none}, BatchNormAttributes{}), "y");
  CHECK(operators_left(fold_batch_norms(network.graph)) == Names{"conv", "batch_norm"});
}

TEST_CASE("a batch normalisation stays where others read what it normalises, or weights are no constants") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {2, 4, 5, 5}), w = network.input("w", {4, 4, 1, 1});
  const ConvAttributes conv = {{{}, {}}, 1};
  const TensorId ones = network.weights("ones", {4}, 0, 1);
  const auto normed = [&](TensorId in) {
    return network.node(Operator::batch_norm, {in, ones, ones, ones, ones}, BatchNormAttributes{});
  };
  const TensorId shared = network.node(Operator::conv, {x, network.weights("v", {4, 4, 1, 1})}, conv);
  network.output(network.node(Operator::add, {normed(shared), shared}), "y");
  network.output(normed(network.node(Operator::conv, {x, w}, conv)), "z");
  CHECK(operators_left(fold_batch_norms(network.graph)) == operators_left(network.graph));
}

TEST_CASE("what erf alone reads is multiplied by the reciprocal of a constant") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {3, 7});
  const auto erf_of = [&](TensorId divided) { return network.node(Operator::erf, {divided}); };
  const auto over = [&](float divisor) {
    return network.node(Operator::div, {x, network.constant<float>("c", {}, {divisor}, DType::f32)});
  };
  network.output(network.node(Operator::mul, {x, erf_of(over(1.4142135F))}), "y");
  const Graph after = multiply_reciprocals(network.graph);
  CHECK(operators_left(after) == Names{"mul", "erf", "mul"});
  float factor = 0;
  std::memcpy(&factor, after.tensor(after.nodes[0].inputs[1]).constant->bytes.data(), sizeof factor);
  CHECK(factor == doctest::Approx(0.70710678).epsilon(1e-7));

  SUBCASE("but not if others read it, or the reciprocal is no normal number") {
    const TensorId shared = over(3), given = over(5);
    network.output(network.node(Operator::add, {erf_of(shared), shared}), "z");
    network.output(erf_of(given), "e");
    network.output(given, "g");
    for (const float divisor : {0.0F, 1e-40F, 3e38F, INFINITY, NAN}) network.output(erf_of(over(divisor)), "r");
    network.output(erf_of(network.node(Operator::div, {x, network.weights("w", {7})})), "v");
    network.output(network.node(Operator::tanh, {over(3)}), "t");
    const Names left = operators_left(multiply_reciprocals(network.graph));
    CHECK(std::ranges::count(left, "div") == 9);
    CHECK(left[0] == "mul");
  }
}

TEST_CASE("the text of a network shows its nodes, and that of groups which are together") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {Size::symbol("N"), 3, 8, 8});
  const TensorId conv = network.node(Operator::conv, {x, network.weights("w", {4, 3, 3, 3})},
                                     ConvAttributes{{{3, 2, 1, 1, 0}, {3, 1, 1, 1, 0}}, 1}, "/conv");
  network.output(network.node(Operator::relu, {conv}, {}, "/relu"), "y");
  CHECK(to_text(network.graph) ==
        "network net(%0 f32[N,3,8,8] x)\n"
        "  %2 f32[N,4,4,7] = conv(%0, %1 f32[4,3,3,3] w) kernel=3x3 stride=2x1 padding=1+0,1+0  /conv\n"
        "  %3 f32[N,4,4,7] = relu(%2)  /relu\n"
        "  return %3 y\n");
  CHECK(groups_text(network.graph, {{{0, 1}}}) ==
        "network net(%0 f32[N,3,8,8] x)\n"
        "  /conv+relu\n"
        "  ├─ %2 f32[N,4,4,7] = conv(%0, %1 f32[4,3,3,3] w) kernel=3x3 stride=2x1 padding=1+0,1+0  /conv\n"
        "  └─ %3 f32[N,4,4,7] = relu(%2)  /relu\n"
        "  return %3 y\n");
}
