// Constants, ranges, and the shapes of tensors.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

constexpr std::int64_t kMaxRange = std::int64_t{1} << 40;

Constant constant_of(const AttributeValue& value, const NodeImport& node) {
  const auto dense = [](DType dtype, std::vector<std::int64_t> shape, const auto* elements, std::size_t count) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(elements);
    const auto bytes = std::make_shared<std::vector<std::uint8_t>>(begin, begin + count * sizeof *elements);
    return Constant{dtype, std::move(shape), std::make_shared<ConstantData>(ConstantData{*bytes, bytes})};
  };
  if (const auto* constant = std::get_if<Constant>(&value)) return *constant;
  if (const auto* real = std::get_if<float>(&value)) return dense(DType::f32, {}, real, 1);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return dense(DType::i64, {}, integer, 1);
  if (const auto* reals = std::get_if<std::vector<float>>(&value)) {
    return dense(DType::f32, {static_cast<std::int64_t>(reals->size())}, reals->data(), reals->size());
  }
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value)) {
    return dense(DType::i64, {static_cast<std::int64_t>(integers->size())}, integers->data(), integers->size());
  }
  node.refuse("a tensor of numbers", "another value");
}

// Counts between bounds that depend on sizes. Floats among them are whole numbers.
void import_open_range(NodeImport& node) {
  const NodeOps of(node);
  const DType dtype = node.input(0).type.dtype;
  const Size start = node.size(0, "the start"), limit = node.size(1, "the limit");
  const std::optional<std::int64_t> step = node.size(2, "the step").constant();
  node.expect(step && *step != 0 && std::abs(*step) <= kMaxRange, "a step that is a number other than 0 up to 2^40",
              [&] { return to_text(node.size(2, "the step")); });
  const std::int64_t distance = std::abs(*step);
  const Size extent = *step > 0 ? limit - start : start - limit;
  Value value = of.iota(max(floor_divide(extent + (distance - 1), distance), 0));
  if (*step != 1) value = of.mul(value, of.size(*step));
  if (start.constant() != 0) value = of.add(value, of.size(start));
  node.output(0, node.cast(value, dtype));
}

void import_float_range(NodeImport& node, DType dtype) {
  const double start = node.scalar(0, "the start"), limit = node.scalar(1, "the limit"),
               delta = node.scalar(2, "the step");
  node.expect(delta != 0, "a step other than 0", [] { return "0"; });
  const double count = std::max(0.0, std::ceil((limit - start) / delta));
  node.expect(count <= static_cast<double>(kMaxRange), "at most 2^40 elements", [&] { return std::to_string(count); });
  if (count > kMaxKnown) {
    const NodeOps of(node);
    const Value places = node.cast(of.iota(static_cast<std::int64_t>(count)), dtype);
    return node.output(0, of.add(of.mul(places, delta), start));
  }
  Known contents;
  for (double i = 0; i < count; ++i) contents.reals.push_back(rounded(dtype, start + i * delta));
  node.output(0, node.known({dtype, {static_cast<std::int64_t>(count)}}, std::move(contents)));
}

// All elements are between start and limit, so arithmetic modulo 2^64 is exact.
void import_integer_range(NodeImport& node, DType dtype) {
  const std::int64_t start = node.number(0, "the start"), limit = node.number(1, "the limit"),
                     delta = node.number(2, "the step");
  node.expect(delta != 0, "a step other than 0", [] { return "0"; });
  const auto from = static_cast<std::uint64_t>(start), to = static_cast<std::uint64_t>(limit),
             step = static_cast<std::uint64_t>(delta);
  const bool is_empty = delta > 0 ? start >= limit : start <= limit;
  const std::uint64_t distance = delta > 0 ? to - from : from - to, stride = delta > 0 ? step : 0 - step;
  const std::uint64_t count = is_empty ? 0 : (distance - 1) / stride + 1;
  node.expect(count <= std::uint64_t{kMaxRange}, "at most 2^40 elements", [&] { return std::to_string(count); });
  const auto size = static_cast<std::int64_t>(count);
  if (count > kMaxKnown) {
    const NodeOps of(node);
    return node.output(0, node.cast(of.add(of.mul(of.iota(size), of.size(delta)), of.size(start)), dtype));
  }
  Known contents;
  for (std::uint64_t i = 0; i < count; ++i) contents.integers.emplace_back(static_cast<std::int64_t>(from + i * step));
  node.output(0, node.known({dtype, {size}}, std::move(contents)));
}

}  // namespace

void import_constant(NodeImport& node) {
  for (const char* name : {"value", "value_float", "value_floats", "value_int", "value_ints"}) {
    if (const AttributeValue* value = node.attribute(name)) {
      return node.output(0, constant_value("", constant_of(*value, node)));
    }
  }
  node.refuse("a value of numbers", "none");
}

void import_constant_of_shape(NodeImport& node) {
  const std::vector<Size> shape = node.sizes(0, "the shape");
  Value value = node.constant(DType::f32, 0);
  if (const AttributeValue* given = node.attribute("value")) value = constant_value("", constant_of(*given, node));
  node.expect(element_count(value.type.shape) == 1, "a value of one element", [&] { return to_text(value.type); });
  node.output(0, node.add(Operator::broadcast, {node.reshape(value, {})}, BroadcastAttributes{shape}));
}

void import_range(NodeImport& node) {
  const DType dtype = node.input(0).type.dtype;
  const auto is_open = [&](std::size_t i) {
    const Value& value = node.input(i);
    return value.quotients != nullptr || (value.known != nullptr && !value.known->integers.empty() &&
                                          !value.known->integers[0].constant().has_value());
  };
  if (is_open(0) || is_open(1) || is_open(2)) return import_open_range(node);
  return is_float(dtype) ? import_float_range(node, dtype) : import_integer_range(node, dtype);
}

void import_shape(NodeImport& node) {
  const Shape& x = node.shape(0);
  const auto rank = static_cast<std::int64_t>(x.size());
  const auto at = [&](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const std::int64_t start = at(node.integer("start", 0)), end = at(node.integer("end", rank));
  node.output(0, node.known(DType::i64,
                            start < end ? std::vector<Size>(x.begin() + start, x.begin() + end) : std::vector<Size>()));
}

void import_size(NodeImport& node) { node.output(0, NodeOps(node).size(element_count(node.shape(0)))); }

}  // namespace ferry::graph::onnx
