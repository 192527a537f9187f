#include "host/graph/compile/integer_costs.h"

#include <doctest/doctest.h>

#include "crosscompile/target/resolve.h"
#include "host/graph/compile/compile_network.h"
#include "host/graph/passes/choose_dots.h"
#include "host/graph/passes/product_costs.h"
#include "tests/support/network_builder.h"
#include "tests/support/seeded.h"

using namespace ferry;
using namespace ferry::graph;
using test::NetworkBuilder;

namespace {

constexpr const char* kDotprod = "llvm -mtriple=aarch64-linux-gnu -mattr=+dotprod";

// Convolutions of bytes, the first of them with a group for each channel, in blocks of so many channels.
Graph network_of(std::int64_t block, DType dtype = DType::i8) {
  NetworkBuilder network;
  const auto conv = [&](TensorId x, std::int64_t groups, const char* name) {
    const std::int64_t depth = 32 / groups;
    const TensorId w = network.constant(
        "w", {32, depth, 1, 1}, test::seeded_bytes<std::int8_t>(static_cast<std::size_t>(32 * depth), 3), DType::i8);
    const TensorId scales = network.constant("s", {32}, std::vector<float>(32, 0.01F), DType::f32);
    const WindowAttributes window = {1, 1, 1, 0, 0};
    const TensorId y =
        network.node(Operator::quantized_conv, {x, w, network.constant<float>("t", {}, {1}, DType::f32), scales},
                     QuantizedConvAttributes{{{window, window}, groups}}, name);
    if (groups == 1) network.graph.tensors[y].channel_block = block;
    return y;
  };
  network.output(conv(network.input("x", {1, 32, 8, 8}, dtype), 32, "depthwise"), "y");
  network.output(conv(network.input("z", {1, 32, 8, 8}, dtype), 1, "dense"), "u");
  return network.graph;
}

const Node& node_of(const Graph& graph, const char* name) { return *std::ranges::find(graph.nodes, name, &Node::name); }

}  // namespace

TEST_CASE("instructions of products of bytes are counted by those that the target has") {
  const struct {
    const char* target;
    double integers, floats;  // instructions of the dense convolution, for 64 multiply-adds
  } expected[] = {{"raspberry-pi-4", 16, 16}, {"raspberry-pi-5", 4, 16},
                  {kDotprod, 4, 16},          {"armv7", 16, 32},
                  {"riscv64-v", 32, 16},      {"x86-64", 16, 32},
                  {"x86-64-v3", 8, 8},        {"x86-64-v4 -mattr=+avx512vnni", 2, 4}};
  for (const auto& [text, integers, floats] : expected) {
    CAPTURE(std::string(text));
    const Target target = resolve_target(text);
    const Graph graph = choose_dots(network_of(8), target);
    const ProductCosts costs = product_costs(graph, node_of(graph, "dense"), target);
    CHECK(costs.integers * 64 == integers);
    CHECK(costs.floats * 64 == floats);
  }
}

TEST_CASE("a network is told where its integers take more instructions than float32") {
  const auto notes = [](const char* text, std::int64_t block = 8) {
    const Target target = resolve_target(text);
    return notes_on_integers(choose_dots(network_of(block), target), target);
  };
  CHECK(notes("riscv64-v") ==
        std::vector<std::string>{
            "2 of 2 convolutions and products of 8-bit integers, 'depthwise' among them, take about 2.0 times the "
            "instructions of float32 on this target, where no instruction sums up their products; --int8 off computes "
            "in float32"});
  CHECK(notes("raspberry-pi-4") ==
        std::vector<std::string>{
            "1 of 2 convolutions and products of 8-bit integers, 'depthwise', takes about 2.0 times the instructions "
            "of float32 on this target, where no instruction sums up their products; all of them take 1.0 times; "
            "--int8 off computes in float32"});
  CHECK(notes("raspberry-pi-5") ==
        std::vector<std::string>{
            "1 of 2 convolutions and products of 8-bit integers, 'depthwise', takes about 2.0 times the instructions "
            "of float32 on this target, where no instruction sums up their products; all of them take 0.30 times"});
  CHECK(notes("x86-64").empty());
  CHECK(notes("cuda").empty());
}
