#include "host/graph/passes/choose_winograd.h"

#include <doctest/doctest.h>

#include "crosscompile/target/resolve.h"
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

Graph network_with(const Convolution& shape) {
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
  return choose_winograd(choose_layouts(network.graph, shape.lanes), resolve_target("x86-64-v3 -l2-bytes=2097152"));
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
}

TEST_CASE("the kernel of a convolution by Winograd's algorithm is called so") {
  const Graph graph = network_with({});
  const auto node = static_cast<std::size_t>(std::ranges::find(graph.nodes, "conv", &Node::name) - graph.nodes.begin());
  CHECK(operators_of(graph, {{node}}) == "conv_winograd4");
}

TEST_CASE("a network computes the same with Winograd's algorithm") {
  const Graph graph = network_with({.size = 12});
  REQUIRE(tile_of(graph) != 0);
  Graph direct = graph;
  for (Node& node : direct.nodes)
    if (auto* conv = std::get_if<ConvAttributes>(&node.attributes)) conv->winograd_tile = 0;
  std::vector<std::byte> input(3 * 12 * 12 * sizeof(float));
  fill(FillKind::random, 1, DType::f32, 0, input.size() / sizeof(float), input.data());
  const auto a = evaluate(graph, {}, {input})[graph.outputs[0]], b = evaluate(direct, {}, {input})[direct.outputs[0]];
  REQUIRE(a.size() == b.size());
  float largest = 0, apart = 0;
  for (std::size_t i = 0; i < a.size(); i += sizeof(float)) {
    float x = 0, y = 0;
    std::memcpy(&x, a.data() + i, sizeof x);
    std::memcpy(&y, b.data() + i, sizeof y);
    largest = std::max(largest, std::abs(y));
    apart = std::max(apart, std::abs(x - y));
  }
  CHECK(largest > 0);
  CHECK(apart > 0);
  CHECK(apart <= 1e-5F * largest);
}
