#include "host/graph/onnx/quantized.h"

#include "host/graph/onnx/node_ops.h"

namespace ferry::graph::onnx {

void expect_narrow(const NodeImport& node, DType dtype) {
  node.expect(!is_float(dtype) && dtype != DType::boolean && dtype_bytes(dtype) <= 2, "integers of 8 or 16 bits",
              [&] { return dtype_name(dtype); });
}

// The sum is a float32, which holds all integers of 16 bits.
Value rounded_to(const NodeImport& node, const Value& quotient, const Value* zero_point, DType to) {
  const NodeOps of(node);
  expect_narrow(node, to);
  const Value x = of.widened(quotient);
  Value value = of.round(x);
  if (zero_point != nullptr) value = of.add(value, node.cast(*zero_point, x.type.dtype));
  return node.cast(value, to);
}

Value along(const NodeImport& node, const Value& value, std::size_t from_end) {
  if (value.type.shape.size() != 1 || value.type.shape[0].constant() == 1) {
    return element_count(value.type.shape).constant() == 1 ? node.reshape(value, {}) : value;
  }
  node.expect(from_end > 0, "one scale and zero point", [&] { return to_text(value.type); });
  Shape shape(from_end, 1);
  shape[0] = value.type.shape[0];
  return node.reshape(value, shape);
}

Value centered(const NodeImport& node, std::size_t input, std::size_t zero_point, std::size_t from_end) {
  expect_narrow(node, node.input(input).type.dtype);
  const Value value = node.cast(node.input(input), DType::i32);
  if (!node.has_input(zero_point)) return value;
  return NodeOps(node).sub(value, along(node, node.cast(node.input(zero_point), DType::i32), from_end));
}

Value float_scale(const NodeImport& node, std::size_t input, std::size_t from_end) {
  return along(node, node.cast(node.input(input), DType::f32), from_end);
}

Value dequantized(const NodeImport& node, std::size_t input, std::size_t scale, std::size_t zero_point) {
  const NodeOps of(node);
  expect_narrow(node, node.input(input).type.dtype);
  Value value = node.cast(node.input(input), DType::f32);
  if (node.has_input(zero_point)) value = of.sub(value, along(node, node.cast(node.input(zero_point), DType::f32), 0));
  return of.mul(value, float_scale(node, scale, 0));
}

Value quantized(const NodeImport& node, const Value& x, std::size_t scale, std::size_t zero_point, DType otherwise) {
  const Value quotient = NodeOps(node).div(x, float_scale(node, scale, 0));
  if (!node.has_input(zero_point)) return rounded_to(node, quotient, nullptr, otherwise);
  const Value zero = along(node, node.input(zero_point), 0);
  return rounded_to(node, quotient, &zero, zero.type.dtype);
}

DynamicallyQuantized dynamically_quantized(const NodeImport& node, const Value& x) {
  const NodeOps of(node);
  const std::vector<std::size_t> all = dimensions_from(0, x.type.shape.size());
  const Value least = of.minimum(of.reduce(Operator::reduce_min, x, all, false), 0);
  const Value greatest = of.maximum(of.reduce(Operator::reduce_max, x, all, false), 0);
  const Value scale = of.div(of.sub(greatest, least), 255);
  const Value zero_point = rounded_to(node, of.div(of.neg(least), scale), nullptr, DType::u8);
  return {rounded_to(node, of.div(x, scale), &zero_point, DType::u8), scale, zero_point};
}

}  // namespace ferry::graph::onnx
