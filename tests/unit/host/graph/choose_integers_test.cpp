#include "host/graph/passes/choose_integers.h"

#include <doctest/doctest.h>

#include "crosscompile/target/resolve.h"
#include "host/graph/compile/graph_passes.h"
#include "host/graph/compile/integer_costs.h"
#include "host/graph/group.h"
#include "host/graph/passes/choose_dots.h"
#include "host/graph/passes/choose_layouts.h"
#include "host/graph/passes/choose_winograd.h"
#include "host/graph/passes/product_costs.h"
#include "host/graph/reference/definition.h"
#include "tests/support/network_builder.h"
#include "tests/support/seeded.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace ferry;
using namespace ferry::graph;
using test::NetworkBuilder;

namespace {

constexpr const char* kVnni = "x86-64-v4 -mattr=+avx512vnni";

// Convolutions of bytes with their channels in blocks: of 1x1, of 3x3, and of each channel by itself.
Graph network_of(std::int64_t channels, std::int64_t size) {
  NetworkBuilder network;
  const auto conv = [&](TensorId x, std::int64_t kernel, std::int64_t groups, const char* name) {
    const std::int64_t depth = channels / groups;
    std::vector<std::int8_t> weights =
        test::seeded_bytes<std::int8_t>(static_cast<std::size_t>(channels * depth * kernel * kernel), 3);
    for (std::int8_t& weight : weights) weight = std::max<std::int8_t>(weight, -127);
    const TensorId w = network.constant("w", {channels, depth, kernel, kernel}, weights, DType::i8);
    const TensorId scales =
        network.constant("s", {channels}, std::vector<float>(static_cast<std::size_t>(channels), 0.01F), DType::f32);
    const WindowAttributes window = {kernel, 1, 1, kernel / 2, kernel / 2};
    const TensorId y =
        network.node(Operator::quantized_conv, {x, w, network.constant<float>("t", {}, {0.5F}, DType::f32), scales},
                     QuantizedConvAttributes{{{window, window}, groups}}, name);
    const TensorId sum = network.node(Operator::add, {y, network.constant<float>("half", {}, {0.5F}, DType::f32)});
    return network.node(Operator::cast, {sum}, CastAttributes{DType::i8});
  };
  const TensorId x = conv(network.input("x", {1, channels, size, size}, DType::i8), 1, 1, "point");
  network.output(conv(conv(x, 3, 1, "dense"), 3, channels, "depthwise"), "y");
  return network.graph;
}

Graph chosen(const Graph& graph, const char* text, bool uses_winograd = true) {
  const Target target = resolve_target(text);
  const Graph dots = choose_dots(choose_layouts(graph, 8), target);
  const ErrorRatios limit = kMaxErrorRatios;
  const Graph integers = choose_integers(dots, target, uses_winograd ? &limit : nullptr);
  return uses_winograd ? choose_winograd(integers, target) : integers;
}

std::vector<std::string> in_floats(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes)
    if (is_in_floats(node)) names.push_back(node.name);
  return names;
}

}  // namespace

TEST_CASE("layers of integers are computed in float32 where the target takes less time for that") {
  const Graph graph = network_of(64, 28);
  using Names = std::vector<std::string>;
  CHECK(in_floats(chosen(graph, "raspberry-pi-4")) == Names{"dense"});
  CHECK(in_floats(chosen(graph, "raspberry-pi-4", false)).empty());
  CHECK(in_floats(chosen(graph, "raspberry-pi-5")).empty());
  CHECK(in_floats(chosen(graph, kVnni)).empty());
  CHECK(in_floats(chosen(graph, "riscv64-v")) == Names{"point", "dense"});
}

TEST_CASE("integers that are widened by themselves take five times the time of float32 in vectors, and twice without") {
  const Graph graph = network_of(64, 28);
  const auto times_of_float32 = [&](const char* text) {
    const Target target = resolve_target(text);
    const Graph dots = choose_dots(choose_layouts(graph, 8), target);
    const Node& dense = *std::ranges::find(dots.nodes, "dense", &Node::name);
    return product_times(dots, dense, target, nullptr, {}).integers / (64.0 * 64 * 9 * 28 * 28);
  };
  CHECK(times_of_float32("riscv64-v") == 5);
  CHECK(times_of_float32("riscv64") == 2);
}

TEST_CASE("a layer in float32 is named after its algorithm, and a note says why it is") {
  const Graph graph = chosen(network_of(64, 28), "raspberry-pi-4");
  const auto dense = std::ranges::find(graph.nodes, "dense", &Node::name) - graph.nodes.begin();
  CHECK(operators_of(graph, {{static_cast<std::size_t>(dense)}}) == "quantized_conv_winograd4");
  const std::vector<std::string> notes = notes_on_integers(graph, resolve_target("raspberry-pi-4"));
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].starts_with("1 of 3 convolutions and products of 8-bit integers, 'dense', is computed in float32"));
  CHECK(notes[0].ends_with("--int8 always sums up integers instead"));
}

TEST_CASE("a layer in float32 has nearly the result of one in integers") {
  Graph graph = network_of(16, 9);
  const auto point = std::ranges::find(graph.nodes, "point", &Node::name);
  graph.outputs = {(point + 2)->outputs[0]};
  std::vector<std::byte> input;
  for (const std::int8_t byte : test::seeded_bytes<std::int8_t>(16 * 9 * 9, 9))
    input.push_back(static_cast<std::byte>(byte));
  const auto result = [&](const Graph& one) { return evaluate(one, {}, {input})[one.outputs[0]]; };
  const std::vector<std::byte> expected = result(graph), real = result(chosen(graph, "riscv64-v"));
  CHECK(std::ranges::count(expected, expected[0]) < std::ssize(expected));
  REQUIRE(real.size() == expected.size());
  for (std::size_t i = 0; i < real.size(); ++i)
    CHECK(std::abs(static_cast<std::int8_t>(real[i]) - static_cast<std::int8_t>(expected[i])) <= 1);
}

TEST_CASE("the choice between integers and floats is the user's") {
  const Graph graph = network_of(64, 28);
  const Target target = resolve_target("raspberry-pi-4");
  CHECK(!in_floats(optimized(graph, target)).empty());
  CHECK(in_floats(optimized(graph, target, {.float32 = false})).empty());
}
