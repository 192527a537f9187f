// com.microsoft's operators on 8-bit integers, each with the scales and zero points of its inputs and its result.
#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"
#include "host/graph/onnx/quantized.h"
#include "host/graph/onnx/windows.h"

#include <algorithm>

namespace ferry::graph::onnx {
namespace {

// Returns x[1,...] with its channels last, [N, spatial..., C], in ONNX's order, and the reverse.
std::vector<std::size_t> channels_first(std::size_t rank) {
  std::vector<std::size_t> order = {0, rank - 1};
  for (std::size_t d = 1; d + 1 < rank; ++d) order.push_back(d);
  return order;
}
std::vector<std::size_t> channels_last(std::size_t rank) {
  std::vector<std::size_t> order = {0};
  for (std::size_t d = 2; d < rank; ++d) order.push_back(d);
  order.push_back(1);
  return order;
}

// Returns the image of a pool with its channels in dimension 1.
Value read_image(NodeImport& node, bool is_last) {
  const Value x = dequantized(node, 0, 1, 2);
  const std::size_t rank = x.type.shape.size();
  node.expect(rank >= 3, "an image with channels", [&] { return to_text(x.type); });
  return is_last ? NodeOps(node).transpose(x, channels_first(rank)) : x;
}

void output_image(NodeImport& node, const Value& y, bool is_last) {
  const Value image = is_last ? NodeOps(node).transpose(y, channels_last(y.type.shape.size())) : y;
  node.output(0, quantized(node, image, 3, 4, node.input(0).type.dtype));
}

// Returns the product of two inputs of integers without their zero points: that of the second has columns.
Value integer_product(const NodeImport& node, std::size_t a_zero, std::size_t b, std::size_t b_zero,
                      MatmulAttributes how = {}) {
  node.expect(node.shape(b).size() == 2, "a matrix as the second factor", [&] { return to_text(node.shape(b)); });
  return NodeOps(node).matmul(centered(node, 0, a_zero, 0), centered(node, b, b_zero, how.transposed_b ? 2 : 1), how);
}

}  // namespace

void import_qlinear_binary(NodeImport& node) {
  const Operator op = node.op() == "QLinearAdd" ? Operator::add : Operator::mul;
  const Value result = node.add(op, {dequantized(node, 0, 1, 2), dequantized(node, 3, 4, 5)});
  node.output(0, quantized(node, result, 6, 7, node.input(0).type.dtype));
}

void import_qlinear_where(NodeImport& node) {
  const Value result = NodeOps(node).where(node.input(0), dequantized(node, 1, 2, 3), dequantized(node, 4, 5, 6));
  node.output(0, quantized(node, result, 7, 8, node.input(1).type.dtype));
}

// Inputs are the scale and the zero point of the result, and then each tensor with its own.
void import_qlinear_concat(NodeImport& node) {
  node.expect(node.input_count() >= 5 && (node.input_count() - 2) % 3 == 0,
              "a scale and a zero point for each tensor and the result",
              [&] { return std::to_string(node.input_count()) + " inputs"; });
  std::vector<Value> parts;
  for (std::size_t i = 2; i < node.input_count(); i += 3) parts.push_back(dequantized(node, i, i + 1, i + 2));
  const std::size_t d = node.dimension(node.integer("axis"), parts[0].type.shape.size());
  node.output(0, quantized(node, NodeOps(node).concat(parts, d), 0, 1, node.input(2).type.dtype));
}

void import_qlinear_unary(NodeImport& node) {
  const NodeOps of(node);
  const Value x = dequantized(node, 0, 1, 2);
  const Value y =
      node.op() == "QLinearSigmoid" ? of.sigmoid(x) : of.where(of.less(x, 0), of.mul(x, node.real("alpha", 0.01)), x);
  node.output(0, quantized(node, y, 3, 4, node.input(0).type.dtype));
}

// Before opset 13 of the operator that it stands for, all dimensions from the axis on are one.
void import_qlinear_softmax(NodeImport& node) {
  const NodeOps of(node);
  const Value x = dequantized(node, 0, 1, 2);
  const Shape& shape = x.type.shape;
  const bool is_flat = node.integer("opset") < 13;
  const std::size_t axis = node.dimension(node.integer("axis"), shape.size());
  const auto at = shape.begin() + static_cast<std::ptrdiff_t>(axis);
  const Shape flat = {element_count(Shape(shape.begin(), at)), element_count(Shape(at, shape.end()))};
  const Value y = is_flat ? of.reshape(of.softmax(of.reshape(x, flat), 1), shape) : of.softmax(x, axis);
  node.output(0, quantized(node, y, 3, 4, node.input(0).type.dtype));
}

void import_qlinear_global_average_pool(NodeImport& node) {
  const bool is_last = node.flag("channels_last", false);
  const Value x = read_image(node, is_last);
  const Value mean = NodeOps(node).reduce(Operator::reduce_mean, x, dimensions_from(2, x.type.shape.size()));
  output_image(node, mean, is_last);
}

void import_qlinear_average_pool(NodeImport& node) {
  const bool is_last = node.flag("channels_last", false);
  const Value x = read_image(node, is_last);
  PoolAttributes pool;
  pool.ceil = node.flag("ceil_mode", false);
  pool.count_padding = node.flag("count_include_pad", false);
  output_image(node, average_pool(node, x, pool), is_last);
}

// alpha * A * B + C, where C has the scale of the product. Without a scale of the result it is float32.
void import_qgemm(NodeImport& node) {
  const NodeOps of(node);
  const MatmulAttributes how = {node.flag("transA", false), node.flag("transB", false)};
  Value sums = integer_product(node, 2, 3, 5, how);
  if (node.has_input(6)) sums = of.add(sums, node.input(6));
  const Value factor = of.mul(of.mul(float_scale(node, 1, 0), float_scale(node, 4, 1)), node.real("alpha", 1));
  const Value real = of.mul(node.cast(sums, DType::f32), factor);
  node.output(0, node.has_input(7) ? quantized(node, real, 7, 8, node.input(0).type.dtype) : real);
}

void import_matmul_integer_to_float(NodeImport& node) {
  const NodeOps of(node);
  const Value sums = integer_product(node, 4, 1, 5);
  const Value factor = of.mul(float_scale(node, 2, 0), float_scale(node, 3, 1));
  Value y = of.mul(node.cast(sums, DType::f32), factor);
  if (node.has_input(6)) y = of.add(y, node.cast(node.input(6), DType::f32));
  node.output(0, y);
}

void import_dynamic_quantize_matmul(NodeImport& node) {
  const NodeOps of(node);
  const DynamicallyQuantized a = dynamically_quantized(node, node.input(0));
  node.expect(node.shape(1).size() == 2, "a matrix as the second factor", [&] { return to_text(node.shape(1)); });
  const Value left = of.sub(node.cast(a.integers, DType::i32), node.cast(a.zero_point, DType::i32));
  const Value sums = of.matmul(left, centered(node, 1, 3, 1));
  Value y = of.mul(node.cast(sums, DType::f32), of.mul(a.scale, float_scale(node, 2, 1)));
  if (node.has_input(4)) y = of.add(y, node.input(4));
  node.output(0, y);
}

}  // namespace ferry::graph::onnx
