// com.microsoft's operators on weights of few bits, which stay packed in memory.
#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"
#include "module/float_element.h"

#include <utility>

namespace ferry::graph::onnx {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Columns of a panel (PackedMatmulAttributes): a cache line of bytes, and whole vectors of sums.
constexpr std::int64_t kPanel = 64;

// The weights of MatMulNBits: the entries of a row in blocks, each of which has a scale and a zero point of its own.
struct BlockedWeights {
  std::int64_t rows = 0, depth = 0, bits = 4, block = 32;

  std::int64_t blocks() const { return (depth + block - 1) / block; }
  std::int64_t panels() const { return (rows + kPanel - 1) / kPanel; }
  std::int64_t in_byte() const { return 8 / bits; }
  std::int64_t row_bytes() const { return blocks() * block / in_byte(); }
};

// Returns the bytes of a constant of so many.
const std::uint8_t* bytes_of(const NodeImport& node, std::size_t input, std::int64_t count, const char* what) {
  const auto& constant = node.input(input).constant;
  node.expect(constant != nullptr, std::string(what) + " as a constant", [] { return "a computed tensor"; });
  node.expect(constant->bytes.size() == static_cast<std::size_t>(count),
              std::string(what) + " of " + std::to_string(count) + " bytes",
              [&] { return std::to_string(constant->bytes.size()); });
  return constant->bytes.data();
}

Value constant_of(const std::string& name, DType dtype, std::vector<std::int64_t> shape, Bytes bytes) {
  const auto data = std::make_shared<Bytes>(std::move(bytes));
  return constant_value(name, {dtype, std::move(shape), std::make_shared<ConstantData>(ConstantData{*data, data})});
}

// Returns [panels, depth, kPanel] of [rows, depth], with 0 in place of rows that are not there.
Bytes in_panels(const std::uint8_t* from, const BlockedWeights& weights, std::int64_t depth, std::int64_t size) {
  Bytes panels(static_cast<std::size_t>(weights.panels() * depth * kPanel * size));
  for (std::int64_t row = 0; row < weights.rows; ++row) {
    std::uint8_t* into = panels.data() + (row / kPanel * depth * kPanel + row % kPanel) * size;
    for (std::int64_t d = 0; d < depth; ++d, from += size, into += kPanel * size) std::copy_n(from, size, into);
  }
  return panels;
}

// Returns a constant of floats, one of each block, as float32.
Bytes widened_bytes(const NodeImport& node, std::size_t input, std::int64_t count, const char* what) {
  const DType dtype = node.input(input).type.dtype;
  node.expect(is_float(dtype), std::string(what) + " of floats", [&] { return dtype_name(dtype); });
  const auto size = static_cast<std::int64_t>(dtype_bytes(dtype));
  const std::uint8_t* from = bytes_of(node, input, count * size, what);
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(float));
  Bytes floats(static_cast<std::size_t>(count * kSize));
  for (std::int64_t i = 0; i < count; ++i)
    store_float(DType::f32, load_float(dtype, from + i * size), floats.data() + i * kSize);
  return floats;
}

// Returns zero points, which are packed like the weights, each row in whole bytes, with a byte for each.
Bytes unpacked_zeros(const NodeImport& node, std::size_t input, const BlockedWeights& weights) {
  const std::int64_t in_byte = weights.in_byte(), row_bytes = (weights.blocks() + in_byte - 1) / in_byte;
  const std::uint8_t* from = bytes_of(node, input, weights.rows * row_bytes, "zero points");
  Bytes zeros;
  for (std::int64_t row = 0; row < weights.rows; ++row, from += row_bytes)
    for (std::int64_t b = 0; b < weights.blocks(); ++b)
      zeros.push_back((from[b / in_byte] >> (b % in_byte * weights.bits)) & ((1U << weights.bits) - 1));
  return zeros;
}

BlockedWeights read_weights(NodeImport& node) {
  constexpr std::int64_t kMostEntries = std::int64_t{1} << 40, kMostInBlock = 1 << 16;
  const BlockedWeights weights = {node.integer("N"), node.integer("K"), node.integer("bits", 4),
                                  node.integer("block_size")};
  node.expect(weights.bits == 2 || weights.bits == 4 || weights.bits == 8, "weights of 2, 4 or 8 bits",
              [&] { return std::to_string(weights.bits); });
  const auto expect_size = [&](std::int64_t value, const char* name) {
    node.expect(value > 0 && value < kMostEntries, std::string(name) + " of 1 or more",
                [&] { return std::to_string(value); });
  };
  expect_size(weights.rows, "N");
  expect_size(weights.depth, "K");
  expect_size(weights.block, "block_size");
  node.expect(weights.block <= kMostInBlock && weights.block % weights.in_byte() == 0,
              "blocks of whole bytes, of at most " + std::to_string(kMostInBlock) + " entries",
              [&] { return std::to_string(weights.block); });
  node.expect(weights.depth <= kMostEntries / weights.rows, "at most 2^40 weights", [] { return "more"; });
  return weights;
}

}  // namespace

// The product is computed in panels of columns, which follow each other in memory.
void import_matmul_nbits(NodeImport& node) {
  const NodeOps of(node);
  node.ignore({"accuracy_level", "weight_prepacked"});  // sums are float32
  const BlockedWeights weights = read_weights(node);
  node.expect(!node.has_input(4), "columns in the order of their blocks, as quantizing without act_order gives them",
              [] { return "a g_idx"; });
  const Value& x = node.input(0);
  const Shape& shape = x.type.shape;
  node.expect(!shape.empty() && is_float(x.type.dtype), "rows of floats", [&] { return to_text(x.type); });
  node.equal("the depth of the rows", shape.back(), "K", weights.depth);

  const std::int64_t blocks = weights.blocks(), panels = weights.panels(), groups = weights.rows * blocks;
  const std::string name = "weights of " + node.op();
  const std::vector<std::int64_t> of_blocks = {panels, blocks, kPanel};
  const std::uint8_t* packed = bytes_of(node, 1, weights.rows * weights.row_bytes(), "weights");
  const Bytes scales = widened_bytes(node, 2, groups, "scales");
  const auto in_blocks = [&](DType dtype, const Bytes& bytes) {
    const auto size = static_cast<std::int64_t>(dtype_bytes(dtype));
    return constant_of(name, dtype, of_blocks, in_panels(bytes.data(), weights, blocks, size));
  };
  const Size rows = element_count(Shape(shape.begin(), shape.end() - 1));
  const Value flat = of.reshape(of.widened(x), {rows, weights.depth});
  std::vector<Value> inputs = {of.pad(flat, 1, 0, blocks * weights.block - weights.depth),
                               constant_of(name, DType::u8, {panels, weights.row_bytes(), kPanel},
                                           in_panels(packed, weights, weights.row_bytes(), 1)),
                               in_blocks(DType::f32, scales)};
  if (node.has_input(3)) {
    const bool is_real = is_float(node.input(3).type.dtype);
    inputs.push_back(is_real ? in_blocks(DType::f32, widened_bytes(node, 3, groups, "zero points"))
                             : in_blocks(DType::u8, unpacked_zeros(node, 3, weights)));
  }
  Value product = node.add(Operator::packed_matmul, inputs, PackedMatmulAttributes{weights.bits, weights.block});
  if (node.has_input(5)) {
    const Value bias = of.reshape(of.widened(node.input(5)), {weights.rows});
    product = of.add(product, of.reshape(of.pad(bias, 0, 0, panels * kPanel - weights.rows), {panels, kPanel}));
  }
  Shape result = shape;
  result.back() = weights.rows;
  const Value columns = of.slice(of.reshape(product, {rows, panels * kPanel}), 1, 0, weights.rows);
  node.output(0, node.cast(of.reshape(columns, result), x.type.dtype));
}

// Rows of the table are gathered packed, together with their scales, and unpacked then.
void import_gather_block_quantized(NodeImport& node) {
  const NodeOps of(node);
  const Value &data = node.input(0), &scales = node.input(2);
  const Shape& table = data.type.shape;
  const std::int64_t bits = node.integer("bits", 4), block = node.integer("block_size", 128);
  node.expect(data.type.dtype == DType::u8, "packed data of uint8", [&] { return to_text(data.type); });
  node.expect(bits == 2 || bits == 4 || bits == 8, "data of 2, 4 or 8 bits", [&] { return std::to_string(bits); });
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
  const Value& indices = node.input(1);

  // Returns numbers of few bits along a last dimension of this size.
  const auto unpacked = [&](const Value& packed, const Size& size) {
    const Value wide = node.cast(packed, DType::i32);
    Shape apart = wide.type.shape;
    apart.push_back(1);
    std::vector<Value> entries;
    for (std::int64_t entry = 0; entry < in_byte; ++entry) {
      const Value shifted = entry == 0 ? wide : of.shift_right(wide, static_cast<double>(entry * bits));
      entries.push_back(of.reshape(of.bit_and(shifted, static_cast<double>((1 << bits) - 1)), apart));
    }
    Shape together = wide.type.shape;
    together.back() = together.back() * in_byte;
    const Value all = in_byte == 1 ? wide : of.reshape(of.concat(entries, apart.size() - 1), together);
    return node.cast(of.slice(all, together.size() - 1, 0, size), DType::f32);
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
  const Value numbers = unpacked(of.gather(data, indices, 0), entries);
  const Value scale = repeated(of.widened(of.gather(scales, indices, 0)));
  const Value zero = node.has_input(3) ? repeated(unpacked(of.gather(node.input(3), indices, 0), *blocks))
                                       : of.number(numbers, static_cast<double>(1 << (bits - 1)));
  node.output(0, node.cast(of.mul(of.sub(numbers, zero), scale), scales.type.dtype));
}

}  // namespace ferry::graph::onnx
