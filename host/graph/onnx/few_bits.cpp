#include "host/graph/onnx/few_bits.h"

#include <algorithm>
#include <cstring>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/stored_types.h"
#include "module/float_element.h"

namespace ferry::graph::onnx {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Columns of a panel (PackedMatmulAttributes): cache lines of bytes and of words, and whole vectors of sums.
constexpr std::int64_t kPanel = 64;

std::int64_t panels_of(const FewBits& weights) { return (weights.columns + kPanel - 1) / kPanel; }

// Returns [panels, depth, kPanel] of [columns, depth], with 0 in place of columns that are not there.
Value in_panels(const FewBits& weights, const void* from, std::int64_t depth, DType dtype) {
  const auto size = static_cast<std::int64_t>(dtype_bytes(dtype));
  const auto panels = std::make_shared<Bytes>(static_cast<std::size_t>(panels_of(weights) * depth * kPanel * size));
  const auto* next = static_cast<const std::uint8_t*>(from);
  for (std::int64_t column = 0; column < weights.columns; ++column) {
    std::uint8_t* into = panels->data() + (column / kPanel * depth * kPanel + column % kPanel) * size;
    for (std::int64_t d = 0; d < depth; ++d, next += size, into += kPanel * size)
      std::memcpy(into, next, static_cast<std::size_t>(size));
  }
  return constant_value(
      "packed weights",
      {dtype, {panels_of(weights), depth, kPanel}, std::make_shared<ConstantData>(ConstantData{*panels, panels})});
}

// Returns the type of the words of which a kernel takes weights: one vector of them serves as many columns as one of
// float32, and is loaded once for all of its weights. Weights of a byte each are best loaded as they are.
DType word_of(const FewBits& weights) {
  const auto bits = static_cast<std::int64_t>(dtype_bytes(DType::u32)) * 8;
  return weights.bits < 8 && weights.block * weights.bits % bits == 0 ? DType::u32 : DType::u8;
}

// Returns the codes of all elements of a stored type of integers, in a byte each, with that of the least one first.
Bytes codes_of(const Constant& stored) {
  const auto bits = static_cast<std::size_t>(stored_bits(stored.unsupported_type));
  const bool is_signed = stored.unsupported_type.starts_with("int");
  const std::size_t in_byte = 8 / bits, sign = is_signed ? std::size_t{1} << (bits - 1) : 0;
  std::size_t count = 1;
  for (const std::int64_t size : stored.shape) count *= static_cast<std::size_t>(size);
  Bytes codes(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t code = (stored.data->bytes[i / in_byte] >> (i % in_byte * bits)) & ((1U << bits) - 1);
    codes[i] = static_cast<std::uint8_t>(code ^ sign);
  }
  return codes;
}

// The places of elements of a matrix's scales and zero points.
struct ScalePlaces {
  std::int64_t column = 0, block = 0;  // strides

  std::size_t at(std::int64_t c, std::int64_t b) const { return static_cast<std::size_t>(c * column + b * block); }
};

}  // namespace

// The product is computed in panels of columns, which follow each other in memory.
Value product_of_few_bits(const NodeImport& node, const Value& x, const FewBits& weights, const Value* bias) {
  const NodeOps of(node);
  const Shape& shape = x.type.shape;
  node.expect(!shape.empty() && is_float(x.type.dtype), "rows of floats", [&] { return to_text(x.type); });
  node.equal("the depth of the rows", shape.back(), "that of the weights", weights.depth);
  const std::int64_t blocks = weights.blocks(), panels = panels_of(weights);
  const Size rows = element_count(Shape(shape.begin(), shape.end() - 1));
  const Value flat = of.reshape(of.widened(x), {rows, weights.depth});
  const DType word = word_of(weights);
  const std::int64_t words = weights.column_bytes() / static_cast<std::int64_t>(dtype_bytes(word));
  std::vector<Value> inputs = {of.pad(flat, 1, 0, blocks * weights.block - weights.depth),
                               in_panels(weights, weights.packed.data(), words, word),
                               in_panels(weights, weights.scales.data(), blocks, DType::f32)};
  if (!weights.zeros.empty()) inputs.push_back(in_panels(weights, weights.zeros.data(), blocks, DType::u8));
  if (!weights.real_zeros.empty()) inputs.push_back(in_panels(weights, weights.real_zeros.data(), blocks, DType::f32));
  Value product = node.add(
      Operator::packed_matmul, inputs,
      PackedMatmulAttributes{.bits = weights.bits, .block = weights.block, .allows_int8 = weights.allows_int8});
  if (bias != nullptr) {
    const Value all = of.reshape(of.widened(*bias), {weights.columns});
    product = of.add(product, of.reshape(of.pad(all, 0, 0, panels * kPanel - weights.columns), {panels, kPanel}));
  }
  Shape result = shape;
  result.back() = weights.columns;
  const Value columns = of.slice(of.reshape(product, {rows, panels * kPanel}), 1, 0, weights.columns);
  return node.cast(of.reshape(columns, result), x.type.dtype);
}

void note_stored_matrix(NodeImport& node, Value& value, std::size_t axis, std::int64_t block) {
  const Constant *weights = node.stored_input(0), *zeros = node.stored_input(2);
  const Value& scales = node.input(1);
  const bool has_integers = weights != nullptr && weights->unsupported_type.find("int") != std::string::npos;
  if (!has_integers || weights->shape.size() != 2 || scales.constant == nullptr || !is_float(scales.type.dtype)) return;
  if (node.has_input(2) && (zeros == nullptr || zeros->unsupported_type != weights->unsupported_type)) return;
  StoredMatrix matrix = {*weights, scales};
  if (zeros != nullptr) matrix.zeros = *zeros;
  matrix.axis = axis;
  matrix.block = block;
  value.stored = std::make_shared<const StoredMatrix>(std::move(matrix));
}

std::optional<Value> stored_product(const NodeImport& node, const Value& x, const Value& value, bool transposed) {
  if (value.stored == nullptr || x.type.shape.empty() || x.type.dtype != value.type.dtype) return std::nullopt;
  const StoredMatrix& matrix = *value.stored;
  const std::size_t depth_axis = matrix.is_transposed != transposed ? 1 : 0;
  FewBits weights;
  weights.depth = matrix.weights.shape[depth_axis];
  weights.columns = matrix.weights.shape[1 - depth_axis];
  weights.bits = static_cast<std::int64_t>(stored_bits(matrix.weights.unsupported_type));
  if (weights.depth == 0 || weights.columns == 0) return std::nullopt;
  const std::int64_t in_byte = weights.in_byte();
  const std::size_t size = dtype_bytes(matrix.scales.type.dtype), count = matrix.scales.constant->bytes.size() / size;
  weights.block = (weights.depth + in_byte - 1) / in_byte * in_byte;
  ScalePlaces places;
  if (matrix.block > 0) {
    constexpr std::int64_t kLongest = 1 << 16;
    if (matrix.axis != depth_axis || matrix.block % in_byte != 0 || matrix.block > kLongest) return std::nullopt;
    weights.block = matrix.block;
    places = depth_axis == 0 ? ScalePlaces{1, weights.columns} : ScalePlaces{weights.blocks(), 1};
  } else if (count > 1) {
    if (matrix.axis == depth_axis) return std::nullopt;
    places = {1, 0};
  }
  if (places.at(weights.columns - 1, weights.blocks() - 1) >= count) return std::nullopt;

  const Bytes codes = codes_of(matrix.weights);
  const Bytes zero_codes = matrix.zeros ? codes_of(*matrix.zeros) : Bytes{};
  if (matrix.zeros && zero_codes.size() != count) return std::nullopt;
  const std::int64_t column_stride = depth_axis == 0 ? 1 : weights.depth, step = depth_axis == 0 ? weights.columns : 1;
  Bytes packed(static_cast<std::size_t>(weights.columns * weights.column_bytes()));
  const bool is_signed = matrix.weights.unsupported_type.starts_with("int");
  for (std::int64_t c = 0; c < weights.columns; ++c) {
    std::uint8_t* into = packed.data() + c * weights.column_bytes();
    for (std::int64_t k = 0; k < weights.depth; ++k)
      into[k / in_byte] |= static_cast<std::uint8_t>(codes[static_cast<std::size_t>(c * column_stride + k * step)]
                                                     << (k % in_byte * weights.bits));
    for (std::int64_t b = 0; b < weights.blocks(); ++b) {
      const std::size_t at = places.at(c, b);
      const std::uint8_t* scale = matrix.scales.constant->bytes.data() + at * size;
      weights.scales.push_back(static_cast<float>(load_float(matrix.scales.type.dtype, scale)));
      // The codes of signed numbers begin with that of the least one, so 0 is the middle, which needs no zero points.
      if (matrix.zeros) weights.zeros.push_back(zero_codes[at]);
      if (!matrix.zeros && !is_signed) weights.zeros.push_back(0);
    }
  }
  weights.packed = packed;
  return product_of_few_bits(node, x, weights, nullptr);
}

}  // namespace ferry::graph::onnx
