// com.microsoft's operators on weights of few bits, which stay packed in memory.
#include "host/graph/onnx/few_bits.h"
#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"
#include "host/graph/onnx/stored_types.h"
#include "module/float_element.h"

#include <utility>

namespace ferry::graph::onnx {
namespace {

// Returns the bytes of a constant of so many.
const std::uint8_t* bytes_of(const NodeImport& node, std::size_t input, std::int64_t count, const char* what) {
  const auto& constant = node.input(input).constant;
  node.expect(constant != nullptr, std::string(what) + " as a constant", [] { return "a computed tensor"; });
  node.expect(constant->bytes.size() == static_cast<std::size_t>(count),
              std::string(what) + " of " + std::to_string(count) + " bytes",
              [&] { return std::to_string(constant->bytes.size()); });
  return constant->bytes.data();
}

// Returns a constant of floats, one of each block, as float32.
std::vector<float> floats_of(const NodeImport& node, std::size_t input, std::int64_t count, const char* what) {
  const DType dtype = node.input(input).type.dtype;
  node.expect(is_float(dtype), std::string(what) + " of floats", [&] { return dtype_name(dtype); });
  const auto size = static_cast<std::int64_t>(dtype_bytes(dtype));
  const std::uint8_t* from = bytes_of(node, input, count * size, what);
  std::vector<float> floats;
  for (std::int64_t i = 0; i < count; ++i) floats.push_back(static_cast<float>(load_float(dtype, from + i * size)));
  return floats;
}

// Returns zero points, which are packed like the weights, each row in whole bytes, with a byte for each.
std::vector<std::uint8_t> bytes_of_zeros(const NodeImport& node, std::size_t input, const FewBits& weights) {
  const std::int64_t in_byte = weights.in_byte(), row_bytes = (weights.blocks() + in_byte - 1) / in_byte;
  const std::uint8_t* from = bytes_of(node, input, weights.columns * row_bytes, "zero points");
  std::vector<std::uint8_t> zeros;
  for (std::int64_t row = 0; row < weights.columns; ++row, from += row_bytes)
    for (std::int64_t b = 0; b < weights.blocks(); ++b)
      zeros.push_back((from[b / in_byte] >> (b % in_byte * weights.bits)) & ((1U << weights.bits) - 1));
  return zeros;
}

FewBits read_weights(NodeImport& node) {
  constexpr std::int64_t kMostEntries = std::int64_t{1} << 40, kMostInBlock = 1 << 16;
  FewBits weights;
  weights.columns = node.integer("N");
  weights.depth = node.integer("K");
  weights.bits = node.integer("bits", 4);
  weights.block = node.integer("block_size");
  node.expect(weights.bits == 2 || weights.bits == 4 || weights.bits == 8, "weights of 2, 4 or 8 bits",
              [&] { return std::to_string(weights.bits); });
  const auto expect_size = [&](std::int64_t value, const char* name) {
    node.expect(value > 0 && value < kMostEntries, std::string(name) + " of 1 or more",
                [&] { return std::to_string(value); });
  };
  expect_size(weights.columns, "N");
  expect_size(weights.depth, "K");
  expect_size(weights.block, "block_size");
  node.expect(weights.block <= kMostInBlock && weights.block % weights.in_byte() == 0,
              "blocks of whole bytes, of at most " + std::to_string(kMostInBlock) + " entries",
              [&] { return std::to_string(weights.block); });
  node.expect(weights.depth <= kMostEntries / weights.columns, "at most 2^40 weights", [] { return "more"; });
  const std::int64_t groups = weights.columns * weights.blocks(), bytes = weights.columns * weights.column_bytes();
  weights.packed = {bytes_of(node, 1, bytes, "weights"), static_cast<std::size_t>(bytes)};
  weights.scales = floats_of(node, 2, groups, "scales");
  if (node.has_input(3) && is_float(node.input(3).type.dtype)) {
    weights.real_zeros = floats_of(node, 3, groups, "zero points");
  } else if (node.has_input(3)) {
    weights.zeros = bytes_of_zeros(node, 3, weights);
  }
  return weights;
}

}  // namespace

void import_matmul_nbits(NodeImport& node) {
  node.ignore({"weight_prepacked"});
  FewBits weights = read_weights(node);
  // The least accurate type of sums that the network allows: 1 to 4 are float32, float16, bfloat16 and int8.
  constexpr std::int64_t kInt8 = 4;
  weights.allows_int8 = node.integer("accuracy_level", 0) == kInt8;
  node.expect(!node.has_input(4), "columns in the order of their blocks, as quantizing without act_order gives them",
              [] { return "a g_idx"; });
  const Value* bias = node.has_input(5) ? &node.input(5) : nullptr;
  node.output(0, product_of_few_bits(node, node.input(0), weights, bias));
}

namespace {

// A table of numbers of few bits, whose rows are whole bytes.
struct PackedTable {
  Value bytes;
  std::int64_t bits = 4;
  double default_zero = 8;
  std::string stored_type = {};  // an initializer's; empty: packed by its producer
};

PackedTable read_table(NodeImport& node) {
  const std::int64_t bits = node.integer("bits", 4);
  const Constant* stored = node.stored_input(0);
  if (stored == nullptr) {
    const Value& data = node.input(0);
    node.expect(data.type.dtype == DType::u8, "packed data of uint8", [&] { return to_text(data.type); });
    node.expect(bits == 2 || bits == 4 || bits == 8, "data of 2, 4 or 8 bits", [&] { return std::to_string(bits); });
    return {data, bits, static_cast<double>(1 << (bits - 1))};
  }
  const auto width = static_cast<std::int64_t>(stored_bits(stored->unsupported_type));
  std::vector<std::int64_t> shape = stored->shape;
  node.expect(!shape.empty() && shape.back() % (8 / width) == 0, "rows of whole bytes",
              [&] { return stored->unsupported_type + to_text(Shape(shape.begin(), shape.end())); });
  shape.back() /= 8 / width;
  return {constant_value("table of " + node.op(), {DType::u8, shape, stored->data}), width, 0,
          stored->unsupported_type};
}

}  // namespace

// Rows of the table are gathered packed, together with their scales, and unpacked then.
void import_gather_block_quantized(NodeImport& node) {
  const NodeOps of(node);
  const auto [data, bits, default_zero, stored_type] = read_table(node);
  const Value &indices = node.input(1), &scales = node.input(2);
  const Shape& table = data.type.shape;
  const std::int64_t block = node.integer("block_size", 128);
  const std::size_t rank = table.size();
  node.expect(rank >= 2 && scales.type.shape.size() == rank && is_float(scales.type.dtype),
              "a table of rank 2 or more with a scale of each block",
              [&] { return to_text(data.type) + " and " + to_text(scales.type); });
  const std::int64_t gather_axis = node.integer("gather_axis", 0), quantize_axis = node.integer("quantize_axis", 1);
  node.expect(node.dimension(gather_axis, rank) == 0 && node.dimension(quantize_axis, rank) == rank - 1,
              "rows (gather_axis 0) in blocks along the last axis",
              [&] { return std::to_string(gather_axis) + " and " + std::to_string(quantize_axis); });
  const std::optional<std::int64_t> bytes = table.back().constant(), blocks = scales.type.shape.back().constant();
  const std::int64_t in_byte = 8 / bits;
  node.expect(block > 0 && block < 1 << 20 && block % in_byte == 0, "a block_size of whole bytes",
              [&] { return std::to_string(block); });
  node.expect(bytes && blocks && *bytes < std::int64_t{1} << 40 && *blocks == (*bytes * in_byte + block - 1) / block,
              "a scale for each block of " + std::to_string(block),
              [&] { return to_text(data.type) + " and " + to_text(scales.type); });

  // Returns numbers of few bits along a last dimension of this size.
  const auto numbers_of = [&, bits = bits, &stored_type = stored_type](const Value& packed, const Size& size) {
    const Value all = unpacked(node, packed, bits);
    const Value codes = of.slice(all, all.type.shape.size() - 1, 0, size);
    return stored_type.empty() ? node.cast(codes, DType::f32) : decoded_codes(node, stored_type, codes);
  };
  // Returns an element of each block for each of its entries.
  const Size entries = *bytes * in_byte;
  const auto repeated = [&](const Value& x) {
    Shape apart = x.type.shape;
    apart.push_back(1);
    Shape often = apart, together = x.type.shape;
    often.back() = block;
    together.back() = together.back() * block;
    const Value all = of.reshape(of.broadcast(of.reshape(x, apart), often), together);
    return of.slice(all, together.size() - 1, 0, entries);
  };
  const Value numbers = numbers_of(of.gather(data, indices, 0), entries);
  const Value scale = repeated(of.widened(of.gather(scales, indices, 0)));
  Value zero = of.number(numbers, default_zero);
  if (const Constant* stored = node.stored_input(3)) {
    zero = repeated(of.gather(decoded(node, *stored), indices, 0));
  } else if (node.has_input(3)) {
    zero = repeated(numbers_of(of.gather(node.input(3), indices, 0), *blocks));
  }
  node.output(0, node.cast(of.mul(of.sub(numbers, zero), scale), scales.type.dtype));
}

}  // namespace ferry::graph::onnx
