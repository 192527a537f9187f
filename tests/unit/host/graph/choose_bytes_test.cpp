#include "host/graph/passes/choose_bytes.h"

#include <doctest/doctest.h>

#include "crosscompile/target/resolve.h"
#include "host/graph/passes/make_groups.h"
#include "host/graph/reference/definition.h"
#include "tests/support/network_builder.h"
#include "tests/support/seeded.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

using namespace ferry;
using namespace ferry::graph;
using test::NetworkBuilder;

namespace {

// Two convolutions of bytes and a residual, whose bytes in between have a zero point.
struct Residual {
  NetworkBuilder network;
  TensorId bytes = kNoTensor;  // read by the second convolution and the residual

  // The scales are those of the first convolution's filters.
  explicit Residual(DType dtype, std::vector<float> scales = std::vector<float>(6, 0.01F)) {
    const auto zero = static_cast<float>(dtype == DType::u8 ? 117 : -11);
    const TensorId zero_point = number("zero", zero), step = number("step", 0.05F);
    const auto conv = [&](TensorId x, const std::vector<float>& filter_scales, const char* name) {
      const TensorId w = network.constant("w", {6, 6, 3, 3}, test::seeded_bytes<std::int8_t>(324, 3), DType::i8);
      const TensorId s = network.constant("s", {6}, filter_scales, DType::f32);
      const TensorId moved = network.constant<std::int16_t>("z", {}, {static_cast<std::int16_t>(zero)}, DType::i16);
      const WindowAttributes window = {3, 1, 1, 1, 1};
      return network.node(Operator::quantized_conv, {x, w, step, s, moved},
                          QuantizedConvAttributes{{{window, window}, 1}}, name);
    };
    const auto quantized = [&](TensorId x) {
      const TensorId real = network.node(Operator::add, {network.node(Operator::div, {x, step}), zero_point});
      return network.node(Operator::cast, {network.node(Operator::round, {real})}, CastAttributes{dtype});
    };
    bytes = quantized(conv(network.input("x", {1, 6, 7, 5}, dtype), scales, "first"));
    const TensorId real = network.node(Operator::cast, {bytes}, CastAttributes{DType::f32});
    const TensorId shortcut = network.node(Operator::mul, {network.node(Operator::sub, {real, zero_point}), step});
    network.output(network.node(Operator::add, {conv(bytes, std::vector<float>(6, 0.01F), "second"), shortcut}), "y");
  }

  TensorId number(const char* name, float value) { return network.constant<float>(name, {}, {value}, DType::f32); }
};

DType read_by(const Graph& graph, const char* name) {
  return graph.tensor(std::ranges::find(graph.nodes, name, &Node::name)->inputs[0]).dtype;
}

std::vector<std::byte> result_of(const Graph& graph) {
  std::vector<std::byte> input;
  for (const std::int8_t byte : test::seeded_bytes<std::int8_t>(6 * 7 * 5, 9))
    input.push_back(static_cast<std::byte>(byte));
  return evaluate(graph, {}, {input})[graph.outputs[0]];
}

}  // namespace

TEST_CASE("bytes between products get the type that the target multiplies, and nothing changes its value") {
  const struct {
    DType dtype;
    const char* target;
    DType wanted;
  } expected[] = {{DType::u8, "raspberry-pi-5", DType::i8},
                  {DType::u8, "raspberry-pi-4", DType::i8},
                  {DType::u8, "raspberry-pi-2", DType::i8},
                  {DType::i8, "raspberry-pi-4", DType::i8},
                  {DType::u8, "x86-64-v3", DType::u8},
                  {DType::u8, "x86-64-v4 -mattr=+avx512vnni", DType::u8},
                  {DType::i8, "x86-64-v4 -mattr=+avx512vnni", DType::u8}};
  for (const auto& [dtype, target, wanted] : expected) {
    CAPTURE(target);
    const Graph graph = Residual(dtype).network.graph, chosen = choose_bytes(graph, resolve_target(target));
    validate(chosen);
    CHECK(read_by(chosen, "first") == dtype);  // an input of the network
    CHECK(read_by(chosen, "second") == wanted);
    CHECK(result_of(chosen) == result_of(graph));
    // What reads the bytes moves them back in its own kernel.
    CHECK(make_groups(chosen).size() == make_groups(graph).size());
  }
}

TEST_CASE("what is no number, or infinite, becomes the same bytes whether they are moved or not") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  for (const DType dtype : {DType::u8, DType::i8}) {
    const Graph graph = Residual(dtype, {0.01F, nan, infinity, 0.01F, -infinity, -nan}).network.graph;
    const std::vector<std::byte> expected = result_of(graph);
    std::vector<float> results(expected.size() / sizeof(float));
    std::memcpy(results.data(), expected.data(), expected.size());
    CHECK(std::ranges::all_of(results, [](float result) { return std::isfinite(result); }));
    for (const char* target : {"raspberry-pi-4", "x86-64-v4 -mattr=+avx512vnni"}) {
      CAPTURE(target);
      CHECK(result_of(choose_bytes(graph, resolve_target(target))) == expected);
    }
  }
}

TEST_CASE("bytes that are an output of the network, or that a pool reads, keep their type") {
  const Target target = resolve_target("raspberry-pi-4");
  Residual with_output(DType::u8), with_pool(DType::u8);
  with_output.network.output(with_output.bytes, "bytes");
  CHECK(read_by(choose_bytes(with_output.network.graph, target), "second") == DType::u8);
  const WindowAttributes window = {2, 2, 1, 0, 0};
  with_pool.network.output(
      with_pool.network.node(Operator::max_pool, {with_pool.bytes}, PoolAttributes{{window, window}}), "pooled");
  CHECK(read_by(choose_bytes(with_pool.network.graph, target), "second") == DType::u8);
}
