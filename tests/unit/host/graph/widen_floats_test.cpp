#include "host/graph/passes/widen_floats.h"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>

#include "host/graph/graph_text.h"
#include "tests/support/network_builder.h"

using namespace ferry;
using namespace ferry::graph;
using test::NetworkBuilder;

namespace {

std::string widened(const Graph& graph) {
  const Graph result = widen_floats(graph);
  validate(result);
  return to_text(result);
}

}  // namespace

TEST_CASE("a network of float16 computes in float32, with the same elements of its weights") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {2, 3}, DType::f16);
  const std::vector<std::uint16_t> weights{0x3c00, 0xb800, 0x0001, 0x7c00, 0x7bff, 0x8000};  // 1, -0.5, 2^-24, ...
  const TensorId w = network.constant("w", {3, 2}, weights, DType::f16);
  const TensorId product = network.node(Operator::matmul, {x, w}, MatmulAttributes{}, "product");
  network.output(network.node(Operator::relu, {product}, {}, "relu"), "y");
  network.output(network.node(Operator::arg_max, {product}, ReduceAttributes{{1}, true}, "best"), "i");
  CHECK(widened(network.graph) == R"(network net(%0 f16[2,3] x)
  %2 f32[2,3] = cast(%0)  x to f32
  %4 f32[2,2] = matmul(%2, %3 f32[3,2] w)  product
  %5 f32[2,2] = relu(%4)  relu
  %1 i64[2,1] = arg_max(%4) dimensions=1 keep  best
  %6 f16[2,2] = cast(%5)  relu to f16
  return %6 y, %1 i
)");
  const Graph result = widen_floats(network.graph);
  std::vector<float> elements(6);
  for (const Tensor& tensor : result.tensors)
    if (tensor.name == "w") std::memcpy(elements.data(), tensor.constant->bytes.data(), sizeof(float) * 6);
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(elements == std::vector<float>{1, -0.5F, 0x1p-24F, infinity, 65504, 0});
}

TEST_CASE("a network's own casts to a narrow type round, those from it need nothing") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {5});
  const TensorId narrow = network.node(Operator::cast, {x}, CastAttributes{DType::bf16}, "narrow");
  const TensorId twice = network.node(Operator::add, {narrow, narrow}, {}, "twice");
  const TensorId wide = network.node(Operator::cast, {twice}, CastAttributes{DType::f32}, "wide");
  network.output(network.node(Operator::relu, {wide}, {}, "relu"), "y");
  network.output(narrow, "n");
  network.output(wide, "w");
  CHECK(widened(network.graph) == R"(network net(%0 f32[5] x)
  %2 bf16[5] = cast(%0)  narrow
  %3 f32[5] = cast(%2)  narrow
  %4 f32[5] = add(%3, %3)  twice
  %1 f32[5] = relu(%4)  relu
  %5 bf16[5] = cast(%3)  narrow to bf16
  return %1 y, %5 n, %4 w
)");
}

TEST_CASE("a network without narrow floats stays as it is") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {3}, DType::f64);
  network.output(network.node(Operator::cast, {x}, CastAttributes{DType::f32}), "y");
  CHECK(widened(network.graph) == to_text(network.graph));
}

TEST_CASE("inputs and constants that are outputs keep their types") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {2}, DType::f16);
  const TensorId c = network.constant<std::uint16_t>("c", {2}, {0x3c00, 0x4000}, DType::f16);
  network.output(x, "same");
  network.output(c, "constant");
  network.output(network.node(Operator::add, {x, c}, {}, "sum"), "sum");
  CHECK(widened(network.graph) == R"(network net(%0 f16[2] x)
  %2 f32[2] = cast(%0)  x to f32
  %4 f32[2] = add(%2, %3 f32[2] c)  sum
  %5 f16[2] = cast(%4)  sum to f16
  return %0 same, %1 constant, %5 sum
)");
}

TEST_CASE("bytes become float32 at once, as passes for dequantized integers expect") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {5}, DType::u8);
  const TensorId scale = network.constant<std::uint16_t>("scale", {}, {0x2c00}, DType::f16);
  network.output(network.node(Operator::mul, {network.node(Operator::cast, {x}, CastAttributes{DType::f16}), scale}),
                 "y");
  const Graph result = widen_floats(network.graph);
  validate(result);
  REQUIRE(result.nodes.size() == 3);
  CHECK(result.tensor(result.nodes[0].outputs[0]).dtype == DType::f32);
  CHECK(result.nodes[1].op == Operator::mul);
  CHECK(result.tensor(result.outputs[0]).dtype == DType::f16);
}
