#include "host/graph/hash_code.h"

#include <bit>

namespace ferry::graph {
namespace {

// Structures are taken apart by name, so that a new field does not compile until it is part of the hash.
class AttributesHash {
 public:
  explicit AttributesHash(HashCode& hash) : hash_(hash) {}

  void operator()(const NoAttributes&) {}
  void operator()(const ConvAttributes& conv) {
    const auto& [windows, groups, winograd_tile, fuses_input] = conv;
    add(windows, groups, winograd_tile, fuses_input);
  }
  void operator()(const PoolAttributes& pool) {
    const auto& [windows, ceil, count_padding] = pool;
    add(windows, ceil, count_padding);
  }
  void operator()(const MatmulAttributes& matmul) {
    const auto& [transposed_a, transposed_b, fuses_rows] = matmul;
    add(transposed_a, transposed_b, fuses_rows);
  }
  void operator()(const QuantizedConvAttributes& quantized) {
    const auto& [conv, is_scaled, in_integers, products] = quantized;
    (*this)(conv);
    add(is_scaled, in_integers, products);
  }
  void operator()(const QuantizedMatmulAttributes& quantized) {
    const auto& [matmul, is_scaled, in_integers, products, lanes] = quantized;
    (*this)(matmul);
    add(is_scaled, in_integers, products, lanes);
  }
  void operator()(const PackedMatmulAttributes& packed) {
    const auto& [bits, block, sums_blocks, allows_int8, has_int8_rows, number] = packed;
    add(bits, block, sums_blocks, allows_int8, has_int8_rows, static_cast<std::uint64_t>(number));
  }
  void operator()(const ReduceAttributes& reduce) {
    const auto& [dimensions, keep] = reduce;
    add(dimensions, keep);
  }
  void operator()(const DimensionAttributes& one) { add(one.dimension); }
  void operator()(const ScatterAttributes& scatter) {
    const auto& [dimension, mode] = scatter;
    add(dimension, static_cast<std::uint64_t>(mode));
  }
  void operator()(const SortAttributes& sort) {
    const auto& [dimension, descending] = sort;
    add(dimension, descending);
  }
  void operator()(const TopKAttributes& top) {
    const auto& [count, largest] = top;
    add(count, largest);
  }
  void operator()(const CumulativeAttributes& cumulative) {
    const auto& [dimension, exclusive, backwards] = cumulative;
    add(dimension, exclusive, backwards);
  }
  void operator()(const IotaAttributes& iota) { add(iota.count); }
  void operator()(const SizesAttributes& sizes) { add(sizes.elements); }
  void operator()(const LoopAttributes& loop) {
    const auto& [count, tensors, has_condition] = loop;
    add(count, tensors, has_condition);
  }
  void operator()(const BatchNormAttributes& norm) { add(norm.epsilon); }
  void operator()(const LayerNormAttributes& norm) {
    const auto& [dimension, epsilon] = norm;
    add(dimension, epsilon);
  }
  void operator()(const ReshapeAttributes& reshape) { add(reshape.shape); }
  void operator()(const BroadcastAttributes& broadcast) { add(broadcast.shape); }
  void operator()(const TransposeAttributes& transpose) { add(transpose.order); }
  void operator()(const SliceAttributes& slice) {
    const auto& [begin, stride, shape] = slice;
    add(begin, stride, shape);
  }
  void operator()(const PadAttributes& pad) {
    const auto& [before, after, value, integer] = pad;
    add(before, after, value, integer);
  }
  void operator()(const CastAttributes& cast) { add(static_cast<std::uint64_t>(cast.to)); }

 private:
  template <class... Parts>
  void add(const Parts&... parts) {
    (add_part(parts), ...);
  }

  void add_part(std::uint64_t number) { hash_.add(number); }
  void add_part(std::int64_t number) { hash_.add(static_cast<std::uint64_t>(number)); }
  void add_part(bool flag) { hash_.add(std::uint64_t{flag ? 1U : 0U}); }
  // Zeros of either sign are equal.
  void add_part(double number) { hash_.add(std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number)); }
  void add_part(const Size& size) { hash_.add(size); }
  void add_part(const WindowAttributes& window) {
    const auto& [kernel, stride, dilation, pad_before, pad_after] = window;
    add(kernel, stride, dilation, pad_before, pad_after);
  }
  void add_part(const LoopTensor& tensor) {
    const auto& [is_backwards, in_place] = tensor;
    add(is_backwards, in_place);
  }
  void add_part(const ops::IntegerProducts& products) {
    const auto& [factors, group, weights_above_minimum, step] = products;
    add(static_cast<std::uint64_t>(factors), group, weights_above_minimum, step);
  }
  template <class Part>
  void add_part(const std::vector<Part>& parts) {
    hash_.add(std::uint64_t{parts.size()});
    for (const Part& part : parts) add_part(part);
  }

  HashCode& hash_;
};

}  // namespace

void HashCode::add(const Size& size) {
  constexpr std::uint64_t kOpen = UINT64_MAX;
  const std::optional<std::int64_t> number = size.constant();
  add(number ? static_cast<std::uint64_t>(*number) : kOpen);
}

void HashCode::add(const Shape& shape) {
  add(std::uint64_t{shape.size()});
  for (const Size& size : shape) add(size);
}

void HashCode::add(const Attributes& attributes) {
  add(std::uint64_t{attributes.index()});
  std::visit(AttributesHash(*this), attributes);
}

}  // namespace ferry::graph
