// Products of dequantized integers: which of them are computed in integers, compared with loops over the integers and
// with the network that computes in floats.
#include "host/graph/passes/quantize_products.h"

#include <doctest/doctest.h>

#include "crosscompile/target/resolve.h"
#include "host/graph/compile/compile_network.h"
#include "host/graph/passes/make_groups.h"
#include "host/graph/passes/pool_integers.h"
#include "host/graph/passes/repeat_dequantization.h"
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

using Names = std::vector<std::string>;

Names operators_left(const Graph& graph) {
  validate(graph);
  Names names;
  for (const Node& node : graph.nodes) names.emplace_back(operator_name(node.op));
  return names;
}

TensorId number(NetworkBuilder& network, float value) { return network.constant<float>("c", {}, {value}, DType::f32); }

// As DequantizeLinear is imported. Without a zero point there is no subtraction.
TensorId dequantized(NetworkBuilder& network, TensorId x, TensorId scale, float zero) {
  TensorId value = network.node(Operator::cast, {x}, CastAttributes{DType::f32});
  if (zero != 0) value = network.node(Operator::sub, {value, number(network, zero)});
  return network.node(Operator::mul, {value, scale});
}

// As QuantizeLinear to u8 is imported.
TensorId quantized(NetworkBuilder& network, TensorId x, float scale, float zero) {
  TensorId value = network.node(Operator::div, {x, number(network, scale)});
  value = network.node(Operator::add, {network.node(Operator::round, {value}), number(network, zero)});
  value = network.node(Operator::maximum, {value, number(network, 0)});
  value = network.node(Operator::minimum, {value, number(network, 255)});
  return network.node(Operator::cast, {value}, CastAttributes{DType::u8});
}

// Seeded bytes that include the extremes.
template <class T>
std::vector<T> bytes(std::size_t count, std::uint32_t seed) {
  test::Seeded seeded(seed);
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t drawn = seeded.draw();
    values.push_back(drawn % 5 == 0   ? std::numeric_limits<T>::min()
                     : drawn % 5 == 1 ? std::numeric_limits<T>::max()
                                      : static_cast<T>(drawn >> 3U));
  }
  return values;
}

template <class T>
std::vector<std::byte> raw(const std::vector<T>& values) {
  std::vector<std::byte> result(values.size() * sizeof(T));
  std::memcpy(result.data(), values.data(), result.size());
  return result;
}

std::vector<float> floats(const std::vector<std::byte>& raw) {
  std::vector<float> values(raw.size() / sizeof(float));
  std::memcpy(values.data(), raw.data(), raw.size());
  return values;
}

struct Convolution {
  std::int64_t channels = 5, filters = 7, height = 9, width = 6, groups = 1;
  WindowAttributes rows = {3, 2, 1, 1, 2}, columns = {2, 1, 2, 2, 0};
  float zero = 3, weight_zero = 0;
  bool is_signed = false, per_filter = true, has_bias = true;
};

// A convolution of the input x, which are bytes, with constants.
template <class X>
struct Case {
  explicit Case(const Convolution& of) : shape(of) {
    const std::int64_t each = of.channels / of.groups;
    for (std::int64_t o = 0; o < of.filters; ++o)
      scales.push_back(of.per_filter ? 0.01F + 0.003F * static_cast<float>(o) : 0.02F);
    if (of.has_bias)
      for (std::int64_t o = 0; o < of.filters; ++o) bias.push_back(0.5F - 0.25F * static_cast<float>(o));
    w = bytes<std::int8_t>(of.filters * each * of.rows.kernel * of.columns.kernel, 7);
    x = bytes < X
    > (of.channels * of.height * of.width, 3);
    const TensorId input =
        network.input("x", {1, of.channels, of.height, of.width}, of.is_signed ? DType::i8 : DType::u8);
    const TensorId weights = network.constant("w", {of.filters, each, of.rows.kernel, of.columns.kernel}, w, DType::i8);
    const TensorId scale =
        of.per_filter ? network.constant("s", {of.filters, 1, 1, 1}, scales, DType::f32) : number(network, scales[0]);
    std::vector<TensorId> inputs = {dequantized(network, input, number(network, kScale), of.zero),
                                    dequantized(network, weights, scale, of.weight_zero)};
    if (of.has_bias) inputs.push_back(network.constant("b", {of.filters}, bias, DType::f32));
    y = network.node(Operator::conv, inputs, ConvAttributes{{of.rows, of.columns}, of.groups}, "conv");
  }

  // Sums of products of integers in a loop, scaled.
  std::vector<float> expected() const {
    const Convolution& of = shape;
    const std::int64_t each = of.channels / of.groups;
    std::vector<float> result;
    const auto places = [](std::int64_t size, const WindowAttributes& window) {
      return (size + window.pad_before + window.pad_after - window.dilation * (window.kernel - 1) - 1) / window.stride +
             1;
    };
    for (std::int64_t o = 0; o < of.filters; ++o)
      for (std::int64_t i = 0; i < places(of.height, of.rows); ++i)
        for (std::int64_t j = 0; j < places(of.width, of.columns); ++j) {
          std::int64_t sum = 0;
          for (std::int64_t c = 0; c < each; ++c)
            for (std::int64_t p = 0; p < of.rows.kernel; ++p)
              for (std::int64_t q = 0; q < of.columns.kernel; ++q) {
                const std::int64_t row = i * of.rows.stride + p * of.rows.dilation - of.rows.pad_before,
                                   column = j * of.columns.stride + q * of.columns.dilation - of.columns.pad_before;
                if (row < 0 || row >= of.height || column < 0 || column >= of.width) continue;
                const std::int64_t channel = o / (of.filters / of.groups) * each + c;
                const auto value = static_cast<std::int64_t>(x[(channel * of.height + row) * of.width + column]) -
                                   static_cast<std::int64_t>(of.zero);
                sum += value * (w[((o * each + c) * of.rows.kernel + p) * of.columns.kernel + q] -
                                static_cast<std::int64_t>(of.weight_zero));
              }
          result.push_back(static_cast<float>(sum) * (kScale * scales[o]) + (of.has_bias ? bias[o] : 0.0F));
        }
    return result;
  }

  static constexpr float kScale = 0.05F;
  Convolution shape;
  NetworkBuilder network;
  std::vector<std::int8_t> w;
  std::vector < X
  > x;
  std::vector<float> scales, bias;
  TensorId y = kNoTensor;
};

template <class X>
void check_convolution(const Convolution& shape) {
  Case < X
  > one(shape);
  one.network.output(one.y, "y");
  const Graph after = quantize_products(one.network.graph);
  CHECK(operators_left(after) == (shape.has_bias ? Names{"quantized_conv", "add"} : Names{"quantized_conv"}));
  const std::vector<float> expected = one.expected(),
                           found = floats(evaluate(after, {}, {raw(one.x)})[after.outputs[0]]);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-6));
}

}  // namespace

TEST_CASE("convolutions of dequantized bytes sum up products of integers") {
  check_convolution<std::uint8_t>({});
  check_convolution<std::uint8_t>({.zero = 0, .per_filter = false, .has_bias = false});
  check_convolution<std::uint8_t>({.zero = 255});
  check_convolution<std::int8_t>({.zero = -128, .is_signed = true});
  check_convolution<std::int8_t>({.zero = 127, .is_signed = true, .has_bias = false});
  check_convolution<std::int8_t>({.zero = 0, .is_signed = true});
  check_convolution<std::uint8_t>({.channels = 6, .filters = 4, .groups = 2});
  check_convolution<std::uint8_t>({.channels = 5, .filters = 5, .groups = 5});
  check_convolution<std::uint8_t>({.channels = 1, .filters = 1, .height = 1, .width = 1});
  check_convolution<std::uint8_t>({.weight_zero = 1});
  check_convolution<std::int8_t>({.zero = -3, .weight_zero = -128, .is_signed = true});
}

TEST_CASE("products of dequantized rows with a matrix of constants sum up products of integers") {
  for (const bool transposed : {false, true}) {
    NetworkBuilder network;
    constexpr std::int64_t kRows = 3, kDepth = 11, kColumns = 5;
    const auto x = bytes<std::uint8_t>(kRows * kDepth, 1);
    const auto w = bytes<std::int8_t>(kDepth * kColumns, 2);
    const std::vector<float> scales = {0.01F, 0.02F, 0.03F, 0.04F, 0.05F};
    const Shape shape = transposed ? Shape{kColumns, kDepth} : Shape{kDepth, kColumns},
                along = transposed ? Shape{kColumns, 1} : Shape{1, kColumns};
    const TensorId input = network.input("x", {1, kRows, kDepth}, DType::u8);
    const TensorId a = dequantized(network, input, number(network, 0.5F), 100),
                   b = dequantized(network, network.constant("w", shape, w, DType::i8),
                                   network.constant("s", along, scales, DType::f32), 0);
    network.output(network.node(Operator::matmul, {a, b}, MatmulAttributes{false, transposed}), "y");
    const Graph after = quantize_products(network.graph);
    CHECK(operators_left(after) == Names{"quantized_matmul"});
    const std::vector<float> found = floats(evaluate(after, {}, {raw(x)})[after.outputs[0]]);
    REQUIRE(found.size() == kRows * kColumns);
    for (std::int64_t m = 0; m < kRows; ++m)
      for (std::int64_t n = 0; n < kColumns; ++n) {
        std::int64_t sum = 0;
        for (std::int64_t k = 0; k < kDepth; ++k)
          sum += (x[m * kDepth + k] - 100) * w[transposed ? n * kDepth + k : k * kColumns + n];
        CHECK(found[m * kColumns + n] == doctest::Approx(static_cast<float>(sum) * (0.5F * scales[n])).epsilon(1e-6));
      }
  }
}

TEST_CASE("other zero points than those of bytes, and sums that might overflow, are computed in floats") {
  const auto is_quantized = [](const Convolution& shape) {
    Case<std::uint8_t> one(shape);
    one.network.output(one.y, "y");
    return operators_left(quantize_products(one.network.graph)).front() == "quantized_conv";
  };
  CHECK(is_quantized({}));
  CHECK(is_quantized({.weight_zero = 1}));
  CHECK_FALSE(is_quantized({.weight_zero = 0.5F}));
  CHECK_FALSE(is_quantized({.weight_zero = 128}));
  CHECK_FALSE(is_quantized({.zero = 0.5F}));
  // Zero points that the type of x does not have.
  CHECK_FALSE(is_quantized({.zero = -1}));
  CHECK_FALSE(is_quantized({.zero = 256}));
  CHECK_FALSE(is_quantized({.zero = 128, .is_signed = true}));
  CHECK_FALSE(is_quantized({.zero = -129, .is_signed = true}));
  // 65,793 products of 255 and -128 are the most that an int32 holds.
  constexpr WindowAttributes kPoint = {};
  CHECK(is_quantized({.channels = 65793, .filters = 1, .height = 1, .width = 1, .rows = kPoint, .columns = kPoint}));
  CHECK_FALSE(
      is_quantized({.channels = 65794, .filters = 1, .height = 1, .width = 1, .rows = kPoint, .columns = kPoint}));
  // Weights minus a zero point are up to 255.
  Convolution one = {.channels = 33025, .filters = 1, .height = 1, .width = 1, .rows = kPoint, .columns = kPoint};
  one.weight_zero = -100;
  CHECK(is_quantized(one));
  one.channels = 33026;
  CHECK_FALSE(is_quantized(one));
}

TEST_CASE("unsigned weights whose zero point is in the middle become int8") {
  for (const std::uint8_t zero : {std::uint8_t{128}, std::uint8_t{100}}) {
    NetworkBuilder network;
    const TensorId x = dequantized(network, network.input("x", {1, 1, 2, 2}, DType::u8), number(network, 1), 0);
    const std::vector<std::uint8_t> w = {0, 255, 128, 1};
    const TensorId weights =
        dequantized(network, network.constant("w", {1, 1, 2, 2}, w, DType::u8), number(network, 1), zero);
    network.output(network.node(Operator::conv, {x, weights}, ConvAttributes{{{2}, {2}}}), "y");
    const Graph after = quantize_products(network.graph);
    CHECK(operators_left(after) == Names{"quantized_conv"});
    CHECK(after.tensor(after.nodes[0].inputs[1]).dtype == (zero == 128 ? DType::i8 : DType::i16));
    const std::vector<std::uint8_t> values = {1, 2, 3, 255};
    float expected = 0;
    for (std::size_t i = 0; i < 4; ++i) expected += static_cast<float>(values[i] * (w[i] - zero));
    CHECK(floats(evaluate(after, {}, {raw(values)})[after.outputs[0]]) == std::vector<float>{expected});
  }
}

TEST_CASE("convolutions and products of integers without their zero points stay int32") {
  constexpr std::int64_t kRows = 3, kDepth = 7, kColumns = 5;
  for (const bool is_runtime_zero : {false, true}) {
    NetworkBuilder network;
    const auto x = bytes<std::uint8_t>(kRows * kDepth, 1);
    const auto w = bytes<std::uint8_t>(kDepth * kColumns, 2);
    const std::vector<std::uint8_t> zeros = {0, 128, 255, 7, 100};
    const auto wide = [&](TensorId id) { return network.node(Operator::cast, {id}, CastAttributes{DType::i32}); };
    const TensorId rows = network.input("x", {kRows, kDepth}, DType::u8);
    const TensorId zero = is_runtime_zero ? wide(network.input("zero", {}, DType::u8))
                                          : network.constant("zero", {}, std::vector<std::int32_t>{200}, DType::i32);
    const TensorId a = network.node(Operator::sub, {wide(rows), zero}),
                   b = network.node(Operator::sub, {wide(network.constant("w", {kDepth, kColumns}, w, DType::u8)),
                                                    wide(network.constant("z", {kColumns}, zeros, DType::u8))});
    network.output(network.node(Operator::matmul, {a, b}, MatmulAttributes{}), "y");
    const Graph after = quantize_products(network.graph);
    CHECK(operators_left(after) ==
          (is_runtime_zero ? Names{"reshape", "cast", "quantized_matmul"} : Names{"quantized_matmul"}));
    std::vector<std::vector<std::byte>> inputs = {raw(x)};
    if (is_runtime_zero) inputs.push_back(raw(std::vector<std::uint8_t>{200}));
    std::vector<std::int32_t> expected(kRows * kColumns);
    for (std::int64_t m = 0; m < kRows; ++m)
      for (std::int64_t n = 0; n < kColumns; ++n)
        for (std::int64_t k = 0; k < kDepth; ++k)
          expected[m * kColumns + n] += (x[m * kDepth + k] - 200) * (w[k * kColumns + n] - zeros[n]);
    CHECK(evaluate(after, {}, inputs)[after.outputs[0]] == raw(expected));
    for (const char* target : {"x86-64-v3", "llvm -mtriple=aarch64-linux-gnu -mattr=+dotprod", "raspberry-pi-4"}) {
      CAPTURE(target);
      const Graph chosen = optimized(network.graph, resolve_target(target));
      CHECK(evaluate(chosen, {}, inputs)[chosen.outputs[0]] == raw(expected));
    }
  }
}

TEST_CASE("a product with weights that are computed stays as it is, also of sizes that are not known") {
  for (const Size& depth : {Size(7), Size::symbol("K")}) {
    NetworkBuilder network;
    const auto wide = [&](TensorId id) { return network.node(Operator::cast, {id}, CastAttributes{DType::i32}); };
    const TensorId a = wide(network.input("a", {3, depth}, DType::u8)), b = network.input("b", {depth, 5}, DType::i8);
    network.output(network.node(Operator::matmul, {a, wide(b)}, MatmulAttributes{}), "y");
    CHECK(operators_left(quantize_products(network.graph)) == Names{"cast", "cast", "matmul"});
  }
}

TEST_CASE("an integer convolution with a bias of int32 is one group with what scales its sums") {
  NetworkBuilder network;
  const auto x = bytes<std::uint8_t>(5 * 6 * 4, 1);
  const auto w = bytes<std::int8_t>(9 * 5 * 9, 2);
  const std::vector<std::int32_t> bias = {1, -2, 30000, 4, 5, 6, 7, 8, 9};
  const auto wide = [&](TensorId id) { return network.node(Operator::cast, {id}, CastAttributes{DType::i32}); };
  const TensorId image = wide(network.input("x", {1, 5, 6, 4}, DType::u8)),
                 filters = wide(network.constant("w", {9, 5, 3, 3}, w, DType::i8)),
                 offsets = network.constant("b", {9}, bias, DType::i32);
  TensorId y =
      network.node(Operator::conv, {image, filters, offsets}, ConvAttributes{{{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}});
  y = network.node(Operator::cast, {y}, CastAttributes{DType::f32});
  y = network.node(Operator::round, {network.node(Operator::mul, {y, number(network, 0.01F)})});
  network.output(network.node(Operator::cast, {y}, CastAttributes{DType::u8}), "y");
  const std::vector<std::vector<std::byte>> inputs = {raw(x)};
  const auto expected = evaluate(network.graph, {}, inputs)[network.graph.outputs[0]];
  for (const char* target : {"x86-64-v3", "llvm -mtriple=aarch64-linux-gnu -mattr=+dotprod"}) {
    const Graph graph = optimized(network.graph, resolve_target(target));
    CHECK(std::ranges::any_of(make_groups(graph), [&](const Group& group) {
      return operators_of(graph, group).starts_with("quantized_conv_add_cast");
    }));
    CHECK(evaluate(graph, {}, inputs)[graph.outputs[0]] == expected);
  }
}

TEST_CASE("a quantized convolution with its residual is one group, at most one unit off its definition") {
  Case<std::uint8_t> one({.channels = 4, .filters = 4, .rows = {3, 1, 1, 1, 1}, .columns = {3, 1, 1, 1, 1}});
  NetworkBuilder& network = one.network;
  const TensorId x = network.graph.nodes[2].outputs[0];  // dequantized
  TensorId y = dequantized(network, quantized(network, one.y, 0.6F, 120), number(network, 0.6F), 120);
  y = network.node(Operator::relu, {network.node(Operator::add, {y, x})});
  network.output(quantized(network, y, 0.3F, 0), "y");
  const Graph graph = optimized(network.graph, resolve_target("x86-64-v3"));
  const std::vector<Group> groups = make_groups(graph);
  REQUIRE(groups.size() == 1);
  CHECK(operators_of(graph, groups[0]).starts_with("quantized_conv_"));
  CHECK(algorithm_of(graph, groups[0], {}).has_value());

  const std::vector<std::vector<std::byte>> inputs = {raw(one.x)};
  const auto found = evaluate(graph, {}, inputs)[graph.outputs[0]],
             expected = evaluate(network.graph, {}, inputs)[network.graph.outputs[0]];
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(std::abs(std::to_integer<int>(found[i]) - std::to_integer<int>(expected[i])) <= 1);
  CHECK(std::ranges::count(found, std::byte{255}) < std::ssize(found));

  const Graph in_floats = optimized(network.graph, resolve_target("x86-64-v3"), {.int8 = false});
  for (const Node& node : in_floats.nodes) CHECK(node.op != Operator::quantized_conv);
}

TEST_CASE("elementwise nodes dequantize what they read themselves") {
  NetworkBuilder network;
  const TensorId x = dequantized(network, network.input("x", {4}, DType::u8), number(network, 0.5F), 3);
  network.output(network.node(Operator::relu, {x}), "y");
  network.output(network.node(Operator::reduce_sum, {x}, ReduceAttributes{{0}, false}), "z");
  CHECK(operators_left(repeat_dequantization(network.graph)) ==
        Names{"cast", "sub", "mul", "cast", "sub", "mul", "relu", "reduce_sum"});
}

TEST_CASE("maxima are taken of bytes, with one scale greater than 0") {
  const auto pooled = [](const std::vector<float>& scales, float zero) {
    NetworkBuilder network;
    const TensorId scale = network.constant("s", {std::ssize(scales), 1, 1}, scales, DType::f32);
    const TensorId x = dequantized(network, network.input("x", {1, 2, 5, 4}, DType::i8), scale, zero);
    network.output(network.node(Operator::max_pool, {x}, PoolAttributes{{{3, 2, 1, 1, 1}, {3, 2, 1, 1, 1}}}), "y");
    const Graph after = pool_integers(network.graph);
    const std::vector<std::vector<std::byte>> inputs = {raw(bytes<std::int8_t>(40, 5))};
    CHECK(evaluate(after, {}, inputs)[after.outputs[0]] ==
          evaluate(network.graph, {}, inputs)[network.graph.outputs[0]]);
    return operators_left(after);
  };
  CHECK(pooled({0.1F}, -128) == Names{"max_pool", "cast", "sub", "mul"});
  CHECK(pooled({0.1F}, 0) == Names{"max_pool", "cast", "mul"});
  CHECK(pooled({-0.1F}, 0) == Names{"cast", "mul", "max_pool"});
  CHECK(pooled({0}, 0) == Names{"cast", "mul", "max_pool"});
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  CHECK(pooled({kInfinity}, 0) == Names{"cast", "mul", "max_pool"});
  CHECK(pooled({0.1F}, kInfinity) == Names{"cast", "sub", "mul", "max_pool"});
  CHECK(pooled({0.1F, 0.2F}, 0) == Names{"cast", "mul", "max_pool"});
}
