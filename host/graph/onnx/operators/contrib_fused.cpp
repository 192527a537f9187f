// com.microsoft's operators in which ONNX Runtime's optimizer joins several of ONNX's, and weights of few bits.
#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"
#include "module/float_element.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace ferry::graph::onnx {
namespace {

// Returns an input, plus the bias if that is given.
Value with_bias(const NodeImport& node, const Value& x, std::size_t bias) {
  return node.has_input(bias) ? NodeOps(node).add(x, node.input(bias)) : x;
}

// Exchanges the dimension of the rows with all batch dimensions before it: [M, batch..., K] as [batch..., M, K].
Value with_batch_first(NodeImport& node, const Value& x) {
  const std::size_t rank = x.type.shape.size();
  node.expect(rank >= 2, "a matrix", [&] { return to_text(x.type); });
  std::vector<std::size_t> order = dimensions_from(1, rank - 1);
  order.push_back(0);
  order.push_back(rank - 1);
  return NodeOps(node).transpose(x, order);
}

// Weights of few bits: the entries of a row in blocks, each of which has a scale and a zero point of its own.
struct BlockedWeights {
  std::int64_t rows = 0, depth = 0, bits = 4, block = 32;

  std::int64_t blocks() const { return (depth + block - 1) / block; }
  std::int64_t entries_in_byte() const { return 8 / bits; }
  // Returns an entry of a row of bytes. The first ones of a byte are its low bits.
  unsigned entry(const std::uint8_t* row, std::int64_t i) const {
    const std::uint8_t byte = row[i / entries_in_byte()];
    return (byte >> (i % entries_in_byte() * bits)) & ((1U << bits) - 1);
  }
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

// Returns the weights as float32, [rows, depth].
Value unpacked(NodeImport& node, const BlockedWeights& weights) {
  const std::int64_t blocks = weights.blocks(), groups = weights.rows * blocks;
  const std::int64_t block_bytes = weights.block * weights.bits / 8;
  const std::uint8_t* packed = bytes_of(node, 1, groups * block_bytes, "weights");
  const DType scale_type = node.input(2).type.dtype;
  node.expect(is_float(scale_type), "scales of floats", [&] { return dtype_name(scale_type); });
  const auto scale_bytes = static_cast<std::int64_t>(dtype_bytes(scale_type));
  const std::uint8_t* scales = bytes_of(node, 2, groups * scale_bytes, "scales");
  // Zero points are packed like the weights, each row in whole bytes, or have the type of the scales.
  const bool has_zeros = node.has_input(3), has_real_zeros = has_zeros && is_float(node.input(3).type.dtype);
  const std::int64_t row_bytes = (blocks + weights.entries_in_byte() - 1) / weights.entries_in_byte();
  const DType zero_type = has_real_zeros ? node.input(3).type.dtype : DType::u8;
  const auto zero_bytes = static_cast<std::int64_t>(dtype_bytes(zero_type));
  const std::uint8_t* zeros =
      has_zeros ? bytes_of(node, 3, has_real_zeros ? groups * zero_bytes : weights.rows * row_bytes, "zero points")
                : nullptr;
  auto floats = std::make_shared<std::vector<std::uint8_t>>(static_cast<std::size_t>(weights.rows * weights.depth) *
                                                            dtype_bytes(DType::f32));
  std::uint8_t* into = floats->data();
  for (std::int64_t row = 0; row < weights.rows; ++row) {
    for (std::int64_t i = 0; i < weights.depth; ++i, into += dtype_bytes(DType::f32)) {
      const std::int64_t in_row = i / weights.block, group = row * blocks + in_row;
      const unsigned entry = weights.entry(packed + group * block_bytes, i % weights.block);
      const double zero = !has_zeros       ? 1U << (weights.bits - 1)
                          : has_real_zeros ? load_float(zero_type, zeros + group * zero_bytes)
                                           : weights.entry(zeros + row * row_bytes, in_row);
      store_float(DType::f32, (entry - zero) * load_float(scale_type, scales + group * scale_bytes), into);
    }
  }
  return constant_value(
      "weights of " + node.op(),
      {DType::f32, {weights.rows, weights.depth}, std::make_shared<ConstantData>(ConstantData{*floats, floats})});
}

}  // namespace

// x / 2 * (1 + erf(x / sqrt(2))), of x with a bias
void import_bias_gelu(NodeImport& node) {
  const NodeOps of(node);
  const Value x = with_bias(node, node.input(0), 1);
  node.output(0, of.mul(of.mul(x, 0.5), of.add(of.erf(of.mul(x, 1 / std::numbers::sqrt2)), 1)));
}

void import_fast_gelu(NodeImport& node) {
  const NodeOps of(node);
  const Value x = with_bias(node, node.input(0), 1), cube = of.mul(of.mul(x, x), x);
  const Value inner = of.mul(of.add(x, of.mul(cube, 0.044715)), std::sqrt(2 / std::numbers::pi));
  node.output(0, of.mul(of.mul(x, 0.5), of.add(of.tanh(inner), 1)));
}

void import_quick_gelu(NodeImport& node) {
  const NodeOps of(node);
  const Value& x = node.input(0);
  node.output(0, of.mul(x, of.sigmoid(of.mul(x, node.real("alpha", 1.702)))));
}

void import_fused_matmul(NodeImport& node) {
  const NodeOps of(node);
  const Value a = node.flag("transBatchA", false) ? with_batch_first(node, node.input(0)) : node.input(0);
  const Value b = node.flag("transBatchB", false) ? with_batch_first(node, node.input(1)) : node.input(1);
  const Value product = of.matmul(a, b, {node.flag("transA", false), node.flag("transB", false)});
  const double alpha = node.real("alpha", 1);
  node.output(0, alpha == 1 ? product : of.mul(product, alpha));
}

// Normalises the sum of two tensors, and of a bias. The simplified one divides by the root of the mean of the squares.
void import_skip_layer_norm(NodeImport& node) {
  const NodeOps of(node);
  const bool is_simplified = node.op() == "SkipSimplifiedLayerNormalization";
  const Value sum = with_bias(node, of.add(node.input(0), node.input(1)), is_simplified ? 3 : 4);
  const Shape& shape = sum.type.shape;
  node.expect(!shape.empty(), "a tensor of rank 1 or more", [&] { return to_text(shape); });
  const std::size_t last = shape.size() - 1;
  const double epsilon = node.real("epsilon", 1e-12);
  node.output(3, sum);
  if (is_simplified) {
    const Value wide = of.widened(sum);
    const Value square = of.reduce(Operator::reduce_mean, of.mul(wide, wide), {last});
    const Value norm = node.cast(of.div(wide, of.sqrt(of.add(square, epsilon))), sum.type.dtype);
    return node.output(0, of.mul(norm, node.input(2)));
  }
  const Value bias = node.has_input(3) ? node.input(3) : of.filled({sum.type.dtype, {shape[last]}}, 0);
  node.output(0, node.add(Operator::layer_norm, {sum, node.input(2), bias}, LayerNormAttributes{last, epsilon}));
}

// The weights are float32 in memory, as the products take them.
void import_matmul_nbits(NodeImport& node) {
  constexpr std::int64_t kMostEntries = std::int64_t{1} << 40, kMostInBlock = 1 << 16;
  const NodeOps of(node);
  node.ignore({"accuracy_level", "weight_prepacked"});
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
  node.expect(weights.block <= kMostInBlock && weights.block % weights.entries_in_byte() == 0,
              "blocks of whole bytes, of at most " + std::to_string(kMostInBlock) + " entries",
              [&] { return std::to_string(weights.block); });
  node.expect(weights.depth <= kMostEntries / weights.rows, "at most 2^40 weights", [] { return "more"; });
  node.expect(!node.has_input(4), "columns in the order of their blocks", [] { return "a g_idx"; });
  const Value& x = node.input(0);
  const Value product = of.matmul(of.widened(x), unpacked(node, weights), {false, true});
  node.output(0, with_bias(node, node.cast(product, x.type.dtype), 5));
}

}  // namespace ferry::graph::onnx
