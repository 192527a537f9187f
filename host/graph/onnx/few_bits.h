// Products with weights of few bits, which stay packed in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "host/graph/onnx/node_import.h"

namespace ferry::graph::onnx {

// A matrix [depth, columns]. The entries of a column are in blocks, each of which has a scale and a zero point.
struct FewBits {
  std::int64_t columns = 0, depth = 0, bits = 4, block = 32;
  std::span<const std::uint8_t> packed =
      {};                          // for each column, whole blocks; the first entry of a byte is its low bits
  std::vector<float> scales = {};  // for each column, one of each block, as are zero points
  // One of these, or none: then they are 2^(bits - 1).
  std::vector<std::uint8_t> zeros = {};
  std::vector<float> real_zeros = {};
  bool allows_int8 = false;  // whether rows may be rounded to int8

  std::int64_t blocks() const { return (depth + block - 1) / block; }
  std::int64_t in_byte() const { return 8 / bits; }
  std::int64_t column_bytes() const { return blocks() * block / in_byte(); }
};

// Returns x times the matrix, plus a bias of the columns unless that is null, in the type of x.
Value product_of_few_bits(const NodeImport& node, const Value& x, const FewBits& weights, const Value* bias);

// A matrix that DequantizeLinear reads from an initializer of integers of few bits.
struct StoredMatrix {
  Constant weights;  // a matrix
  Value scales;      // a constant
  std::optional<Constant> zeros = {};
  std::size_t axis = 0;    // the scales' axis
  std::int64_t block = 0;  // along the axis; 0: a scale for each of its entries, or one for all
  bool is_transposed = false;
};

// Sets value.stored where the input is such a matrix. The value is what the node computes of it otherwise.
void note_stored_matrix(NodeImport& node, Value& value, std::size_t axis, std::int64_t block);
// Returns the product with a second factor that is such a matrix, which may be transposed once more; nothing if it is
// none, or has other blocks than those along the depth.
std::optional<Value> stored_product(const NodeImport& node, const Value& x, const Value& matrix, bool transposed);

}  // namespace ferry::graph::onnx
