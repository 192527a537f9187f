#include "tests/support/networks/quantized_network.h"

#include <cstdint>

#include "tests/support/network_builder.h"
#include "tests/support/seeded.h"

namespace ferry::test {

using namespace graph;

Graph quantized_network(const Size& batch) {
  NetworkBuilder network("quantized");
  Seeded seeded(1);
  const auto number = [&](float value) { return network.constant<float>("c", {}, {value}, DType::f32); };
  const auto dequantize = [&](TensorId x, TensorId scale, float zero) {
    const TensorId real = network.node(Operator::cast, {x}, CastAttributes{DType::f32});
    return network.node(Operator::mul, {network.node(Operator::sub, {real, number(zero)}), scale});
  };
  const auto quantize = [&](TensorId x, float scale, float zero, DType to, float least) {
    x = network.node(Operator::round, {network.node(Operator::div, {x, number(scale)})});
    x = network.node(Operator::maximum, {network.node(Operator::add, {x, number(zero)}), number(least)});
    x = network.node(Operator::minimum, {x, number(least + 255)});
    return network.node(Operator::cast, {x}, CastAttributes{to});
  };
  const auto weights = [&](const Shape& shape, const Shape& along) {
    std::vector<std::int8_t> values;
    for (std::int64_t i = 0; i < *element_count(shape).constant(); ++i)
      values.push_back(static_cast<std::int8_t>(seeded.byte()));
    std::vector<float> scales;
    for (std::int64_t i = 0; i < *element_count(along).constant(); ++i)
      scales.push_back(0.001F * static_cast<float>(i + 1));
    return dequantize(network.constant("w", shape, values, DType::i8), network.constant("s", along, scales, DType::f32),
                      0);
  };
  const auto conv = [&](TensorId x, std::int64_t from, std::int64_t to, WindowAttributes window, std::int64_t groups) {
    return network.node(
        Operator::conv,
        {x, weights({to, from / groups, window.kernel, window.kernel}, {to, 1, 1, 1}), network.weights("b", {to})},
        ConvAttributes{{window, window}, groups});
  };
  TensorId x = dequantize(network.input("x", {batch, 5, 13, 11}, DType::u8), number(0.02F), 117);
  x = network.node(Operator::relu, {conv(x, 5, 9, {3, 2, 1, 1, 1}, 1)});
  x = dequantize(quantize(x, 0.03F, 0, DType::u8, 0), number(0.03F), 0);
  TensorId y = dequantize(quantize(conv(x, 9, 9, {3, 1, 1, 1, 1}, 1), 0.05F, -7, DType::i8, -128), number(0.05F), -7);
  y = dequantize(quantize(conv(y, 9, 9, {3, 1, 1, 1, 1}, 9), 0.05F, 9, DType::i8, -128), number(0.05F), 9);
  x = quantize(network.node(Operator::add, {x, y}), 0.1F, 100, DType::u8, 0);
  network.output(x, "sum");
  x = dequantize(network.input("rows", {batch, 3, 21}, DType::u8), number(0.1F), 20);
  network.output(
      quantize(network.node(Operator::matmul, {x, weights({17, 21}, {17, 1})}, MatmulAttributes{false, true}), 0.5F,
               128, DType::u8, 0),
      "y");
  return network.graph;
}

}  // namespace ferry::test
