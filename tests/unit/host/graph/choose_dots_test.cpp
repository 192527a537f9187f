#include "host/graph/passes/choose_dots.h"

#include <doctest/doctest.h>

#include "crosscompile/target/resolve.h"
#include "host/graph/passes/choose_layouts.h"
#include "host/graph/reference/definition.h"
#include "tests/support/network_builder.h"
#include "tests/support/seeded.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

using namespace ferry;
using namespace ferry::graph;
using test::NetworkBuilder;

namespace {

constexpr const char* kVnni = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -mattr=+avxvnni";
constexpr const char* kDotprod = "llvm -mtriple=aarch64-linux-gnu -mattr=+dotprod";

// Two convolutions of bytes with zero points, of which the first reads few channels.
Graph network_of(DType dtype) {
  NetworkBuilder network;
  const auto conv = [&](TensorId x, std::int64_t from, std::int64_t to, std::int16_t zero, const char* name) {
    const TensorId weights = network.constant(
        "w", {to, from, 3, 3}, test::seeded_bytes<std::int8_t>(static_cast<std::size_t>(to * from * 9), 3), DType::i8);
    const TensorId scales =
        network.constant("s", {to}, std::vector<float>(static_cast<std::size_t>(to), 0.01F), DType::f32);
    const WindowAttributes window = {3, 1, 1, 1, 1};
    return network.node(Operator::quantized_conv,
                        {x, weights, network.constant<float>("t", {}, {0.25F}, DType::f32), scales,
                         network.constant<std::int16_t>("z", {}, {zero}, DType::i16)},
                        QuantizedConvAttributes{{{window, window}, 1}}, name);
  };
  TensorId x = conv(network.input("x", {1, 3, 7, 6}, dtype), 3, 38, dtype == DType::u8 ? 200 : -100, "first");
  x = network.node(Operator::maximum, {x, network.constant<float>("least", {}, {0}, DType::f32)});
  x = network.node(Operator::minimum, {x, network.constant<float>("most", {}, {127}, DType::f32)});
  x = network.node(Operator::cast, {x}, CastAttributes{dtype});
  network.output(conv(x, 38, 39, 9, "second"), "y");
  return network.graph;
}

std::int64_t group_of(const Graph& graph, const char* name) {
  return std::get<QuantizedConvAttributes>(std::ranges::find(graph.nodes, name, &Node::name)->attributes).group;
}

}  // namespace

TEST_CASE("convolutions of bytes in blocks add four products at once where the target can") {
  const struct {
    DType dtype;
    const char* target;
    std::int64_t group;
  } expected[] = {{DType::u8, kVnni, 4},
                  {DType::i8, kVnni, 1},
                  {DType::i8, kDotprod, 4},
                  {DType::u8, kDotprod, 1},
                  {DType::u8, "x86-64-v3", 1}};
  for (const auto& one : expected) {
    CAPTURE(one.target);
    const Graph plain = network_of(one.dtype), blocked = choose_layouts(plain, 8);
    const Graph graph = choose_dots(blocked, resolve_target(one.target));
    validate(graph);
    CHECK(graph.tensor(graph.nodes[0].outputs[0]).channel_block == 8);
    CHECK(group_of(graph, "first") == one.group);
    CHECK(group_of(graph, "second") == one.group);
    CHECK(group_of(choose_dots(plain, resolve_target(one.target)), "first") == 1);
  }
}

TEST_CASE(
    "convolutions of bytes compute the same in blocks, with and without groups, and nearly what they are defined as") {
  for (const DType dtype : {DType::u8, DType::i8}) {
    const Graph plain = network_of(dtype), blocked = choose_layouts(plain, 8);
    const Graph grouped = choose_dots(blocked, resolve_target(dtype == DType::u8 ? kVnni : kDotprod));
    const std::vector<std::int8_t> bytes = test::seeded_bytes<std::int8_t>(3 * 7 * 6, 9);
    std::vector<std::byte> input;
    for (const std::int8_t byte : bytes) input.push_back(static_cast<std::byte>(byte));
    const auto result = [&](const Graph& graph) { return evaluate(graph, {}, {input})[graph.outputs[0]]; };
    const std::vector<std::byte> expected = result(plain);
    CHECK(std::ranges::count(expected, expected[0]) < std::ssize(expected));
    CHECK(result(blocked) == expected);
    CHECK(result(grouped) == expected);
    for (Graph defined : {plain, grouped}) {
      for (Node& node : defined.nodes)
        if (auto* conv = std::get_if<QuantizedConvAttributes>(&node.attributes)) conv->in_integers = false;
      const std::vector<std::byte> real = result(defined);
      REQUIRE(real.size() == expected.size());
      for (std::size_t at = 0; at < real.size(); at += sizeof(float)) {
        float is = 0, wanted = 0;
        std::memcpy(&is, real.data() + at, sizeof(float));
        std::memcpy(&wanted, expected.data() + at, sizeof(float));
        // A byte between the convolutions may be rounded the other way.
        CHECK(std::abs(is - wanted) <= 0.25F * 0.01F * 128 * 9 * 2);
      }
    }
  }
}
