#include "host/graph/passes/choose_dots.h"

#include <doctest/doctest.h>

#include "crosscompile/target/resolve.h"
#include "host/graph/passes/choose_layouts.h"
#include "host/graph/reference/definition.h"
#include "tests/support/network_builder.h"
#include "tests/support/seeded.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

using namespace ferry;
using namespace ferry::graph;
using ops::IntegerFactors;
using ops::IntegerProducts;
using test::NetworkBuilder;

namespace {

constexpr const char* kVnni = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -mattr=+avxvnni";
constexpr const char* kDotprod = "llvm -mtriple=aarch64-linux-gnu -mattr=+dotprod";
constexpr const char* kMixedDot = "llvm -mtriple=aarch64-linux-gnu -mattr=+dotprod,+i8mm";

constexpr const char* kTiles = "llvm -mtriple=x86_64-linux-gnu -mcpu=sapphirerapids";

// A convolution of bytes from and to so many channels.
Graph network_of_channels(std::int64_t from, std::int64_t to) {
  NetworkBuilder network;
  const TensorId weights = network.constant(
      "w", {to, from, 3, 3}, test::seeded_bytes<std::int8_t>(static_cast<std::size_t>(to * from * 9), 3), DType::i8);
  const TensorId scales =
      network.constant("s", {to}, std::vector<float>(static_cast<std::size_t>(to), 0.01F), DType::f32);
  const WindowAttributes window = {3, 1, 1, 1, 1};
  const TensorId one = network.constant<float>("t", {}, {1}, DType::f32);
  network.output(
      network.node(Operator::quantized_conv, {network.input("x", {1, from, 7, 6}, DType::u8), weights, one, scales},
                   QuantizedConvAttributes{{{window, window}, 1}}, "conv"),
      "y");
  return network.graph;
}

// Two convolutions of bytes, perhaps with zero points, of which the first reads few channels.
Graph network_of(DType dtype, bool has_zero = true) {
  NetworkBuilder network;
  const auto conv = [&](TensorId x, std::int64_t from, std::int64_t to, std::int16_t zero, const char* name) {
    const TensorId weights = network.constant(
        "w", {to, from, 3, 3}, test::seeded_bytes<std::int8_t>(static_cast<std::size_t>(to * from * 9), 3), DType::i8);
    const TensorId scales =
        network.constant("s", {to}, std::vector<float>(static_cast<std::size_t>(to), 0.01F), DType::f32);
    const WindowAttributes window = {3, 1, 1, 1, 1};
    std::vector<TensorId> inputs = {x, weights, network.constant<float>("t", {}, {0.25F}, DType::f32), scales};
    if (has_zero) inputs.push_back(network.constant<std::int16_t>("z", {}, {zero}, DType::i16));
    return network.node(Operator::quantized_conv, inputs, QuantizedConvAttributes{{{window, window}, 1}}, name);
  };
  TensorId x = conv(network.input("x", {1, 3, 7, 6}, dtype), 3, 38, dtype == DType::u8 ? 200 : -100, "first");
  x = network.node(Operator::maximum, {x, network.constant<float>("least", {}, {0}, DType::f32)});
  x = network.node(Operator::minimum, {x, network.constant<float>("most", {}, {127}, DType::f32)});
  x = network.node(Operator::cast, {x}, CastAttributes{dtype});
  network.output(conv(x, 38, 39, 9, "second"), "y");
  return network.graph;
}

IntegerProducts products_of(const Graph& graph, const char* name) {
  return std::get<QuantizedConvAttributes>(std::ranges::find(graph.nodes, name, &Node::name)->attributes).products;
}

}  // namespace

TEST_CASE("convolutions of bytes in blocks multiply by the instructions that the target has") {
  const struct {
    DType dtype;
    const char* target;
    IntegerProducts products;
  } expected[] = {{DType::u8, kVnni, {IntegerFactors::bytes, 4}},
                  {DType::i8, kVnni, {IntegerFactors::flipped, 4}},
                  {DType::i8, kDotprod, {IntegerFactors::bytes, 4}},
                  {DType::u8, kDotprod, {IntegerFactors::flipped, 4}},
                  {DType::u8, kMixedDot, {IntegerFactors::bytes, 4}},
                  {DType::u8, "x86-64-v3", {IntegerFactors::int16, 2}},
                  {DType::i8, "x86-64-v4", {IntegerFactors::int16, 2}},
                  {DType::i8, "raspberry-pi-4", {IntegerFactors::bytes, 2}},
                  {DType::u8, "raspberry-pi-4", {IntegerFactors::flipped, 2}},
                  {DType::u8, "raspberry-pi-2", {IntegerFactors::flipped, 2}}};
  for (const auto& one : expected) {
    CAPTURE(one.target);
    for (const bool has_zero : {false, true}) {
      const Graph plain = network_of(one.dtype, has_zero), blocked = choose_layouts(plain, 8);
      const Graph graph = choose_dots(blocked, resolve_target(one.target));
      validate(graph);
      CHECK(graph.tensor(graph.nodes[0].outputs[0]).channel_block == 8);
      CHECK(products_of(graph, "first") == one.products);
      CHECK(products_of(graph, "second") == one.products);
      CHECK(products_of(choose_dots(plain, resolve_target(one.target)), "first") == IntegerProducts{});
    }
  }
}

TEST_CASE("images of bytes have 64 channels in a block where AMX's tiles gain more than blocks pad") {
  CHECK(channels_in_block(network_of_channels(64, 128), resolve_target(kTiles)) == 64);
  CHECK(channels_in_block(network_of_channels(8, 24), resolve_target(kTiles)) == 16);
  CHECK(channels_in_block(network_of_channels(64, 128), resolve_target("x86-64-v4 -mattr=+avx512vnni")) == 16);
}

TEST_CASE("pairs of bytes are added up at once only where no weight is -128") {
  for (const std::int8_t least : {-128, -127}) {
    Graph graph = choose_layouts(network_of(DType::i8), 4);
    for (const Node& node : graph.nodes) {
      if (node.op != Operator::quantized_conv) continue;
      Tensor& weights = graph.tensors[node.inputs[1]];
      auto bytes =
          std::make_shared<std::vector<std::uint8_t>>(weights.constant->bytes.size(), static_cast<std::uint8_t>(least));
      weights.constant = std::make_shared<const ConstantData>(ConstantData{*bytes, bytes});
    }
    const Graph chosen = choose_dots(graph, resolve_target("raspberry-pi-4"));
    CHECK(products_of(chosen, "second") == IntegerProducts{IntegerFactors::bytes, 2, least > -128});
    const Graph dots = choose_dots(graph, resolve_target(kDotprod));
    CHECK(products_of(dots, "second") == IntegerProducts{IntegerFactors::bytes, 4});
  }
}

TEST_CASE("depthwise convolutions of bytes are computed in blocks, and add two products up where that is exact") {
  for (const auto& [kernel, stride, padding, channels] :
       {std::array<std::int64_t, 4>{3, 1, 1, 23}, {3, 2, 0, 16}, {5, 2, 2, 15}})
    for (const int least : {-128, -127})
      for (const DType dtype : {DType::u8, DType::i8}) {
        NetworkBuilder network;
        std::vector<std::int8_t> weights =
            test::seeded_bytes<std::int8_t>(static_cast<std::size_t>(channels * kernel * kernel), 3);
        for (std::int8_t& weight : weights) weight = static_cast<std::int8_t>(std::max<int>(weight, least));
        weights[0] = static_cast<std::int8_t>(least);
        const auto scale = [&](const char* name, std::int64_t count) {
          return network.constant(name, count == 0 ? Shape{} : Shape{count},
                                  std::vector<float>(static_cast<std::size_t>(std::max<std::int64_t>(count, 1)), 0.06F),
                                  DType::f32);
        };
        const WindowAttributes window = {kernel, stride, 1, padding, padding}, point = {1, 1, 1, 0, 0};
        const TensorId zero = network.constant<std::int16_t>(
            "z", {}, {static_cast<std::int16_t>(dtype == DType::u8 ? 200 : -100)}, DType::i16);
        // Few channels, which are read as they are, and a mean keep the layer in blocks.
        const TensorId few =
            network.constant("first", {channels, 3, 1, 1},
                             test::seeded_bytes<std::int8_t>(static_cast<std::size_t>(channels * 3), 5), DType::i8);
        const TensorId stem =
            network.node(Operator::quantized_conv,
                         {network.input("x", {1, 3, 9, 8}, dtype), few, scale("t", 0), scale("s", channels), zero},
                         QuantizedConvAttributes{{{point, point}, 1}});
        const TensorId moved = network.node(Operator::add, {stem, network.constant<float>("by", {}, {3}, DType::f32)});
        const TensorId x = network.node(Operator::cast, {moved}, CastAttributes{dtype});
        const TensorId w = network.constant("w", {channels, 1, kernel, kernel}, weights, DType::i8);
        const TensorId y = network.node(Operator::quantized_conv, {x, w, scale("t", 0), scale("s", channels), zero},
                                        QuantizedConvAttributes{{{window, window}, channels}}, "depthwise");
        network.output(network.node(Operator::reduce_mean, {y}, ReduceAttributes{{2, 3}, true}), "y");
        const Graph blocked = choose_layouts(network.graph, 8);
        std::vector<std::byte> input;
        for (const std::int8_t byte : test::seeded_bytes<std::int8_t>(3 * 72, 9))
          input.push_back(static_cast<std::byte>(byte));
        const auto result = [&](const Graph& graph) { return evaluate(graph, {}, {input})[graph.outputs[0]]; };
        const std::vector<std::byte> expected = result(network.graph);
        for (const char* target : {kVnni, kDotprod, "x86-64-v3", "raspberry-pi-4", "raspberry-pi-2", "riscv64-v"}) {
          CAPTURE(target);
          const Target resolved = resolve_target(target);
          const Graph graph = choose_dots(blocked, resolved);
          const auto depthwise = std::ranges::find(graph.nodes, "depthwise", &Node::name);
          CHECK(graph.tensor(depthwise->outputs[0]).channel_block == 8);
          const bool in_pairs = adds_byte_pairs(resolved) && least > -128;
          CHECK(products_of(graph, "depthwise") ==
                (in_pairs
                     ? IntegerProducts{dtype == DType::i8 ? IntegerFactors::bytes : IntegerFactors::flipped, 2, true}
                     : IntegerProducts{}));
          CHECK(result(graph) == expected);
        }
      }
}

TEST_CASE("convolutions of bytes compute the same by all instructions, and nearly what they are defined as") {
  for (const DType dtype : {DType::u8, DType::i8})
    for (const bool has_zero : {false, true}) {
      const Graph plain = network_of(dtype, has_zero), blocked = choose_layouts(plain, 8);
      const std::vector<std::int8_t> bytes = test::seeded_bytes<std::int8_t>(3 * 7 * 6, 9);
      std::vector<std::byte> input;
      for (const std::int8_t byte : bytes) input.push_back(static_cast<std::byte>(byte));
      const auto result = [&](const Graph& graph) { return evaluate(graph, {}, {input})[graph.outputs[0]]; };
      const std::vector<std::byte> expected = result(plain);
      CHECK(std::ranges::count(expected, expected[0]) < std::ssize(expected));
      CHECK(result(blocked) == expected);
      std::vector<Graph> all = {plain};
      for (const char* target : {kVnni, kDotprod, kMixedDot, "x86-64-v3", "raspberry-pi-4", kTiles}) {
        all.push_back(choose_dots(blocked, resolve_target(target)));
        CAPTURE(target);
        CHECK(result(all.back()) == expected);
      }
      for (Graph& defined : all) {
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
