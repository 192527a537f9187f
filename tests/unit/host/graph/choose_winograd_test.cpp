#include "host/graph/passes/choose_winograd.h"

#include <doctest/doctest.h>

#include "crosscompile/target/resolve.h"
#include "ferry/ops/winograd.h"
#include "host/graph/compile/compile_network.h"
#include "host/graph/group.h"
#include "host/graph/passes/choose_layouts.h"
#include "host/graph/reference/definition.h"
#include "tests/support/network_builder.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace ferry;
using namespace ferry::graph;
using test::NetworkBuilder;

namespace {

constexpr std::int64_t kLanes = 8;

// A convolution between others that keep its channels in blocks.
struct Convolution {
  std::int64_t channels = 64, size = 28, kernel = 3, stride = 1, dilation = 1, groups = 1;
  std::int64_t lanes = kLanes;
};

Graph plain_network_with(const Convolution& shape) {
  NetworkBuilder network;
  const auto conv = [&](TensorId x, std::int64_t from, const char* name, std::int64_t kernel, std::int64_t groups = 1,
                        WindowAttributes window = {}) {
    window.kernel = kernel;
    window.pad_before = window.pad_after = kernel / 2;
    return network.node(Operator::conv,
                        {x, network.weights("w", {shape.channels, from / groups, kernel, kernel}, 0.1F)},
                        ConvAttributes{{window, window}, groups}, name);
  };
  TensorId x = conv(network.input("x", {1, 3, shape.size, shape.size}), 3, "first", 1);
  x = conv(x, shape.channels, "conv", shape.kernel, shape.groups, {1, shape.stride, shape.dilation});
  x = conv(x, shape.channels, "last", 1);
  network.output(network.node(Operator::reduce_mean, {x}, ReduceAttributes{{2, 3}, true}), "y");
  return network.graph;
}

Graph network_with(const Convolution& shape) {
  return choose_winograd(choose_layouts(plain_network_with(shape), shape.lanes),
                         resolve_target("x86-64-v3 -l2-bytes=2097152"));
}

Graph without_winograd(Graph graph) {
  for (Node& node : graph.nodes)
    if (auto* conv = std::get_if<ConvAttributes>(&node.attributes)) conv->winograd_tile = 0;
  return graph;
}

std::vector<float> floats(std::span<const std::byte> bytes) {
  std::vector<float> elements(bytes.size() / sizeof(float));
  std::memcpy(elements.data(), bytes.data(), bytes.size());
  return elements;
}

float most(const std::vector<float>& values) {
  float most = 0;
  for (const float value : values) most = std::max(most, std::abs(value));
  return most;
}

float apart(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  float apart = 0;
  for (std::size_t i = 0; i < a.size(); ++i) apart = std::max(apart, std::abs(a[i] - b[i]));
  return apart;
}

std::int64_t tile_of(const Graph& graph) {
  validate(graph);
  const auto node = std::ranges::find(graph.nodes, "conv", &Node::name);
  return std::get<ConvAttributes>(node->attributes).winograd_tile;
}

}  // namespace

TEST_CASE("convolutions of 3 x 3 over many channels in blocks use Winograd's algorithm") {
  CHECK(tile_of(network_with({})) == 4);
  CHECK(tile_of(network_with({.kernel = 5})) == 0);
  CHECK(tile_of(network_with({.stride = 2})) == 0);
  CHECK(tile_of(network_with({.dilation = 2})) == 0);
  CHECK(tile_of(network_with({.groups = 2})) == 0);
}

TEST_CASE("convolutions of few channels, whose transforms cost more than they save, are direct") {
  CHECK(tile_of(network_with({.channels = 8, .size = 40})) == 0);
}

TEST_CASE("a smaller tile is chosen where larger ones load too many weights") {
  CHECK(tile_of(network_with({.channels = 256, .size = 14})) == 2);
  CHECK(tile_of(network_with({.channels = 512, .size = 7})) == 2);
}

TEST_CASE("the kernel of a convolution by Winograd's algorithm is called so") {
  const Graph graph = network_with({});
  const auto node = static_cast<std::size_t>(std::ranges::find(graph.nodes, "conv", &Node::name) - graph.nodes.begin());
  CHECK(operators_of(graph, {{node}}) == "conv_winograd4");
}

TEST_CASE("an image of open size is convolved as one of the size that calls are expected to have") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {Size::symbol("N"), 64, Size::symbol("H"), Size::symbol("W")});
  const ConvAttributes conv = {{{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}, 1};
  const TensorId first = network.node(Operator::conv, {x, network.weights("w", {64, 64, 3, 3})}, conv, "first");
  network.output(network.node(Operator::conv, {first, network.weights("v", {64, 64, 3, 3})}, conv, "conv"), "y");
  const auto tile_at = [&](const NetworkSizes& sizes) {
    const SizeGuess guess(network.graph, sizes);
    const Graph blocked = choose_layouts(network.graph, kLanes, guess);
    REQUIRE(blocked.tensor(std::ranges::find(blocked.nodes, "conv", &Node::name)->inputs[0]).channel_block == kLanes);
    return tile_of(choose_winograd(blocked, resolve_target("x86-64-v3 -l2-bytes=2097152"), kMaxErrorRatios, guess));
  };
  CHECK(tile_at({{"H", 28}, {"W", 28}}) == 4);
  CHECK(tile_at({}) == 4);
  CHECK(tile_at({{"H", 1}, {"W", 28}}) == 0);  // most of a tile would be past the end
}

TEST_CASE("Winograd's algorithm can be switched off") {
  const Graph plain = plain_network_with({});
  const Target cpu = resolve_target("x86-64-v3 -l2-bytes=2097152");
  CHECK(tile_of(optimized(plain, cpu)) == 4);
  CHECK(tile_of(optimized(plain, cpu, {.winograd = false})) == 0);
  CHECK(tile_of(optimized(plain, cpu, {.max_error = {1, 1}})) == 2);
}

TEST_CASE("a network computes the same with Winograd's algorithm") {
  const Graph graph = network_with({.size = 12});
  REQUIRE(tile_of(graph) == 4);
  const Graph direct = without_winograd(graph);
  std::vector<std::byte> input(3 * 12 * 12 * sizeof(float));
  fill(FillKind::random, 1, DType::f32, 0, input.size() / sizeof(float), input.data());
  const auto all = evaluate(graph, {}, {input}), all_direct = evaluate(direct, {}, {input});
  const auto y = floats(all[graph.outputs[0]]), want = floats(all_direct[direct.outputs[0]]);
  CHECK(most(want) > 0);
  CHECK(apart(y, want) > 0);
  CHECK(apart(y, want) <= 1e-5F * most(want));

  // The bound of ferry/ops/winograd.h, for the convolution itself.
  const Node& conv = *std::ranges::find(graph.nodes, "conv", &Node::name);
  const auto weights = floats(std::as_bytes(graph.tensor(conv.inputs[1]).constant->bytes));
  const std::size_t channels = 64, each = channels * 9;
  float sum = 0;
  for (std::size_t filter = 0; filter < weights.size(); filter += each) {
    float magnitude = 0;
    for (std::size_t i = 0; i < each; ++i) magnitude += std::abs(weights[filter + i]);
    sum = std::max(sum, magnitude);
  }
  const double factor = ops::winograd_error_factor(4) + 1;
  CHECK(apart(floats(all[conv.outputs[0]]), floats(all_direct[conv.outputs[0]])) <=
        factor * (channels + 33) * std::ldexp(1.0, -24) * most(floats(all[conv.inputs[0]])) * sum);
}

TEST_CASE("the definition of a convolution by Winograd's algorithm is the direct convolution") {
  const Graph graph = network_with({.size = 12}), direct = without_winograd(graph);
  const auto node = static_cast<std::size_t>(std::ranges::find(graph.nodes, "conv", &Node::name) - graph.nodes.begin());
  const auto stages = [](const GroupDefinition& definition) {
    std::vector<std::string> names;
    for (const lang::Tensor& stage : lang::computed_tensors(definition.program)) names.push_back(stage.name());
    return names;
  };
  const auto algorithm = algorithm_of(graph, {{node}}, {});
  REQUIRE(algorithm.has_value());
  CHECK(stages(definition_of(graph, {{node}}, {})) == stages(definition_of(direct, {{node}}, {})));
  CHECK(stages(*algorithm) != stages(definition_of(direct, {{node}}, {})));
  CHECK(algorithm->tensors == definition_of(graph, {{node}}, {}).tensors);
  CHECK_FALSE(algorithm_of(direct, {{node}}, {}).has_value());
}
