// Conversion between floats and integers with a scale and a zero point, and products of such integers.
#include "host/graph/onnx/few_bits.h"
#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"
#include "host/graph/onnx/quantized.h"
#include "host/graph/onnx/stored_types.h"
#include "host/graph/onnx/windows.h"

#include <algorithm>

namespace ferry::graph::onnx {
namespace {

// Repeats the entries of blocks of an axis, the last of which may be shorter.
Value repeated(const NodeOps& of, const Value& value, std::size_t d, std::int64_t block, const Size& size) {
  Shape apart = value.type.shape;
  apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(d) + 1, 1);
  Shape often = apart, together = value.type.shape;
  often[d + 1] = block;
  together[d] = together[d] * block;
  return of.slice(of.reshape(of.broadcast(of.reshape(value, apart), often), together), d, 0, size);
}

// Returns a scale or zero point that broadcasts to x: one number, one for each entry of the axis, or one for each
// block.
Value along_axis(NodeImport& node, const Value& value, const Shape& x, std::int64_t axis) {
  const std::int64_t block = node.integer("block_size", 0);
  if (block != 0) {
    const std::size_t d = node.dimension(axis, x.size());
    node.expect(block > 0 && value.type.shape.size() == x.size(), "blocks of a positive size, with a scale for each",
                [&] { return std::to_string(block) + " and " + to_text(value.type); });
    return repeated(NodeOps(node), value, d, block, x[d]);
  }
  if (value.type.shape.empty() || element_count(value.type.shape).constant() == 1) return node.reshape(value, {});
  node.expect(value.type.shape.size() == 1, "one scale and zero point, or one for each entry of an axis",
              [&] { return to_text(value.type); });
  Shape shape(x.size(), 1);
  shape[node.dimension(axis, x.size())] = value.type.shape[0];
  return node.reshape(value, shape);
}

std::int64_t read_axis(NodeImport& node) {
  node.ignore({"saturate"});  // it concerns only types that ferry lacks
  return node.integer("axis", 1);
}

// Whether an input consists of zeros, as zero points of weights usually do.
bool is_zero(const NodeImport& node, std::size_t input) {
  const Constant* stored = node.stored_input(input);
  const auto& constant = stored == nullptr ? node.input(input).constant : stored->data;
  return constant != nullptr && std::ranges::all_of(constant->bytes, [](std::uint8_t byte) { return byte == 0; });
}

// Returns the integers of the result: the sums times the scales of both inputs, divided by that of the result.
Value requantized(const NodeImport& node, const Value& sums, const Value& factor, std::size_t scale,
                  std::size_t zero_point) {
  const NodeOps of(node);
  const Value real = of.mul(node.cast(sums, DType::f32), of.div(factor, node.cast(node.input(scale), DType::f32)));
  const Value& zero = node.input(zero_point);
  return rounded_to(node, real, &zero, zero.type.dtype);
}

// Filters have a scale and zero point each, which stand in dimension 0 of the filters, and 1 of the result.
std::size_t filters_from_end(const NodeImport& node, std::size_t input) {
  const Shape& filters = node.shape(input);
  node.expect(filters.size() >= 3, "filters of rank 3 or more", [&] { return to_text(filters); });
  return filters.size();
}

}  // namespace

void import_dequantize(NodeImport& node) {
  const std::int64_t axis = read_axis(node);
  Value value = decoded_input(node, 0);
  const Shape shape = value.type.shape;
  const Value scale = along_axis(node, node.input(1), shape, axis);
  const std::int64_t wanted = node.integer("output_dtype", 0);
  const DType to = wanted == 0 ? scale.type.dtype : node.element_type("output_dtype");
  const NodeOps of(node);
  // Narrow floats hold all differences of bytes, but not those of wider integers.
  const Value factor = dtype_bytes(value.type.dtype) == 1 ? scale : of.widened(scale);
  const bool is_wide =
      !is_float(value.type.dtype) && dtype_bytes(value.type.dtype) > 2;  // a float32 has too few digits for it
  if (!is_wide) value = node.cast(value, factor.type.dtype);
  if (node.has_input(2)) {
    const Value zero = along_axis(node, decoded_input(node, 2), shape, axis);
    if (!is_zero(node, 2)) value = of.sub(value, node.cast(zero, value.type.dtype));
  }
  Value result = node.cast(of.mul(node.cast(value, factor.type.dtype), factor), to);
  if (shape.size() == 2 && to == scale.type.dtype) {
    // One scale needs no axis.
    const bool has_axis = !scale.type.shape.empty();
    note_stored_matrix(node, result, has_axis ? node.dimension(axis, 2) : 0, node.integer("block_size", 0));
  }
  node.output(0, result);
}

void import_quantize(NodeImport& node) {
  const std::int64_t axis = read_axis(node);
  const Value scale = along_axis(node, node.input(1), node.shape(0), axis);
  const std::int64_t wanted = node.integer("output_dtype", 0);
  const DType to = node.has_input(2) ? node.input(2).type.dtype
                   : wanted == 0     ? DType::u8
                                     : node.element_type("output_dtype");
  // The type in which the division is done, by default that of the scale.
  const DType precision = node.integer("precision", 0) == 0 ? scale.type.dtype : node.element_type("precision");
  const Value real = NodeOps(node).div(node.cast(node.input(0), precision), node.cast(scale, precision));
  if (!node.has_input(2)) return node.output(0, rounded_to(node, real, nullptr, to));
  const Value zero_point = along_axis(node, node.input(2), node.shape(0), axis);
  node.output(0, rounded_to(node, real, &zero_point, to));
}

void import_dynamic_quantize(NodeImport& node) {
  const DynamicallyQuantized x = dynamically_quantized(node, node.input(0));
  node.output(0, x.integers);
  node.output(1, x.scale);
  node.output(2, x.zero_point);
}

void import_matmul_integer(NodeImport& node) {
  node.output(0, NodeOps(node).matmul(centered(node, 0, 2, 2), centered(node, 1, 3, 1)));
}

void import_qlinear_matmul(NodeImport& node) {
  const NodeOps of(node);
  const Value sums = of.matmul(centered(node, 0, 2, 2), centered(node, 3, 5, 1));
  const Value factor = of.mul(float_scale(node, 1, 2), float_scale(node, 4, 1));
  node.output(0, requantized(node, sums, factor, 6, 7));
}

void import_conv_integer(NodeImport& node) {
  Value x = centered(node, 0, 2, 0);
  const ConvAttributes conv = read_convolution(node, x, 1);
  const Value filters = centered(node, 1, 3, filters_from_end(node, 1));
  node.output(0, node.add(Operator::conv, {x, filters}, conv));
}

void import_qlinear_conv(NodeImport& node) {
  Value x = centered(node, 0, 2, 0);
  const ConvAttributes conv = read_convolution(node, x, 3);
  const std::size_t rank = filters_from_end(node, 3);
  std::vector<Value> inputs = {x, centered(node, 3, 5, rank)};
  if (node.has_input(8)) inputs.push_back(node.cast(node.input(8), DType::i32));
  const Value sums = node.add(Operator::conv, inputs, conv);
  const Value factor = NodeOps(node).mul(float_scale(node, 1, 0), float_scale(node, 4, rank - 1));
  node.output(0, requantized(node, sums, factor, 6, 7));
}

}  // namespace ferry::graph::onnx
