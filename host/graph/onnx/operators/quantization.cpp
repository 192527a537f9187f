// Conversion between floats and integers with a scale and a zero point.
#include <cmath>

#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

// Returns a scale or zero point with the rank of x, along the axis if it has several entries.
Value along_axis(NodeImport& node, std::size_t input, std::int64_t axis) {
  const Value& value = node.input(input);
  const Shape& x = node.shape(0);
  if (value.type.shape.empty() || element_count(value.type.shape).constant() == 1) return node.reshape(value, {});
  node.expect(value.type.shape.size() == 1, "one scale and zero point, or one for each entry of an axis",
              [&] { return to_text(value.type); });
  Shape shape(x.size(), 1);
  shape[node.dimension(axis, x.size())] = value.type.shape[0];
  return node.reshape(value, shape);
}

std::int64_t read_axis(NodeImport& node) {
  node.expect(node.integer("block_size", 0) == 0, "no blocks", [] { return "a block_size"; });
  node.ignore({"saturate"});  // of types that ferry lacks
  return node.integer("axis", 1);
}

// The least and the greatest integer of a type.
std::pair<double, double> limits_of(DType dtype) {
  const int bits = static_cast<int>(dtype_bytes(dtype)) * 8;
  if (is_unsigned_int(dtype)) return {0, std::ldexp(1, bits) - 1};
  return {-std::ldexp(1, bits - 1), std::ldexp(1, bits - 1) - 1};
}

}  // namespace

void import_dequantize(NodeImport& node) {
  const std::int64_t axis = read_axis(node);
  node.expect(node.integer("output_dtype", 0) == 0, "the scale's type as result", [] { return "an output_dtype"; });
  const Value scale = along_axis(node, 1, axis);
  Value value = node.cast(node.input(0), scale.type.dtype);
  if (node.has_input(2))
    value = node.add(Operator::sub, {value, node.cast(along_axis(node, 2, axis), scale.type.dtype)});
  node.output(0, node.add(Operator::mul, {value, scale}));
}

void import_quantize(NodeImport& node) {
  const std::int64_t axis = read_axis(node);
  node.expect(node.integer("output_dtype", 0) == 0 && node.integer("precision", 0) == 0,
              "a type given by the zero point", [] { return "an output_dtype or a precision"; });
  const Value scale = along_axis(node, 1, axis);
  const DType dtype = scale.type.dtype, to = node.has_input(2) ? node.input(2).type.dtype : DType::u8;
  node.expect(!is_float(to) && dtype_bytes(to) <= 2, "integers of 8 or 16 bits", [&] { return dtype_name(to); });
  Value value = node.add(Operator::round, {node.add(Operator::div, {node.cast(node.input(0), dtype), scale})});
  if (node.has_input(2)) value = node.add(Operator::add, {value, node.cast(along_axis(node, 2, axis), dtype)});
  const auto [least, greatest] = limits_of(to);
  value = node.add(Operator::maximum, {value, node.constant(dtype, least)});
  value = node.add(Operator::minimum, {value, node.constant(dtype, greatest)});
  node.output(0, node.cast(value, to));
}

}  // namespace ferry::graph::onnx
