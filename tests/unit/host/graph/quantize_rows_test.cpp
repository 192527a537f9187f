#include "host/graph/passes/quantize_rows.h"

#include <doctest/doctest.h>

#include "crosscompile/target/resolve.h"
#include "host/graph/reference/definition.h"
#include "tests/support/network_builder.h"
#include "tests/support/seeded.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

using namespace ferry;
using namespace ferry::graph;
using test::NetworkBuilder;

namespace {

constexpr const char* kVnni = "x86-64-v4 -mattr=+avx512vnni";
constexpr std::int64_t kBlock = 32, kBlocks = 3, kRows = 2, kPanels = 2, kColumns = 5;

// A product of rows of 1, -1/2 and so on, which int8 represents up to 1/254, with random weights.
Graph product(std::int64_t bits, DType word, bool allows_int8) {
  NetworkBuilder network;
  const TensorId x = network.input("x", {kRows, kBlock * kBlocks});
  const std::int64_t word_bits = static_cast<std::int64_t>(dtype_bytes(word)) * 8, words = kBlock * bits / word_bits;
  const auto bytes = static_cast<std::size_t>(kPanels * kBlocks * words * kColumns * word_bits / 8);
  const TensorId w =
      network.constant("w", {kPanels, kBlocks * words, kColumns}, test::seeded_bytes<std::uint8_t>(bytes, 5), word);
  const TensorId scales = network.weights("s", {kPanels, kBlocks, kColumns});
  const PackedMatmulAttributes packed = {.bits = bits, .block = kBlock, .allows_int8 = allows_int8};
  network.output(network.node(Operator::packed_matmul, {x, w, scales}, packed, "product"), "y");
  return network.graph;
}

std::vector<float> result_of(const Graph& graph) {
  std::vector<float> x(static_cast<std::size_t>(kRows * kBlock * kBlocks));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
  std::vector<std::byte> bytes(x.size() * sizeof(float));
  std::memcpy(bytes.data(), x.data(), bytes.size());
  const std::vector<std::byte> result = evaluate(graph, {}, {bytes})[graph.outputs[0]];
  std::vector<float> y(result.size() / sizeof(float));
  std::memcpy(y.data(), result.data(), result.size());
  return y;
}

const PackedMatmulAttributes& attributes_of(const Graph& graph) {
  return std::get<PackedMatmulAttributes>(graph.nodes[0].attributes);
}

}  // namespace

TEST_CASE("rows are rounded to int8 where the network allows it and the target multiplies bytes, by little") {
  const struct {
    std::int64_t bits;
    DType word;
    const char* target;
    bool rounds;
    DType number;
  } expected[] = {{4, DType::u32, kVnni, true, DType::u8},
                  {2, DType::u32, kVnni, true, DType::u8},
                  {8, DType::u8, kVnni, true, DType::u8},
                  {4, DType::u8, kVnni, true, DType::u8},
                  {4, DType::u32, "raspberry-pi-5", true, DType::i8},
                  {8, DType::u8, "raspberry-pi-5", false, DType::u8},
                  {4, DType::u32, "raspberry-pi-4", false, DType::u8},
                  {4, DType::u32, "x86-64-v3", false, DType::u8}};
  for (const auto& [bits, word, target, rounds, number] : expected) {
    CAPTURE(bits);
    CAPTURE(target);
    const Graph graph = product(bits, word, true), chosen = quantize_rows(graph, resolve_target(target));
    validate(chosen);
    CHECK(attributes_of(chosen).has_int8_rows == rounds);
    if (rounds) CHECK(attributes_of(chosen).number == number);
    const std::vector<float> exact = result_of(graph), rounded = result_of(chosen);
    REQUIRE(rounded.size() == exact.size());
    // Elements are off by half a step of 1/127 at most, and weights by 2^(bits - 1) from their zero points.
    const double bound = rounds ? 0.5 / 127 * kBlock * kBlocks * static_cast<double>(1 << (bits - 1)) : 0;
    double furthest = 0;
    for (std::size_t i = 0; i < exact.size(); ++i)
      furthest = std::max(furthest, static_cast<double>(std::abs(rounded[i] - exact[i])));
    CHECK(furthest <= bound);
    CHECK((furthest > 0) == rounds);
  }
}

TEST_CASE("rows stay floats where the network does not allow int8") {
  const Graph graph = product(4, DType::u32, false), same = quantize_rows(graph, resolve_target(kVnni));
  CHECK(!attributes_of(same).has_int8_rows);
  CHECK(same.nodes[0].inputs == graph.nodes[0].inputs);
}

TEST_CASE("weights that two products share stay shared") {
  Graph graph = product(4, DType::u32, true);
  graph.outputs.push_back(
      add_node(graph, {Operator::packed_matmul, "again", graph.nodes[0].inputs, {}, attributes_of(graph)}));
  graph.output_names.push_back("z");
  const Graph chosen = quantize_rows(graph, resolve_target(kVnni));
  CHECK(chosen.nodes[0].inputs[1] == chosen.nodes[1].inputs[1]);
}
