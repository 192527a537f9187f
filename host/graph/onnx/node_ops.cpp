#include "host/graph/onnx/node_ops.h"

#include <algorithm>
#include <numeric>

namespace ferry::graph::onnx {
namespace {

// Each part adds a choice to the kernel that joins them.
constexpr std::size_t kMaxJoined = 32;

void expect_dimension(const NodeImport& node, const Value& x, std::size_t dimension) {
  node.expect(dimension < x.type.shape.size(), "a tensor of higher rank", [&] { return to_text(x.type); });
}

}  // namespace

Value NodeOps::widened(const Value& x) const {
  const bool is_narrow = is_float(x.type.dtype) && dtype_bytes(x.type.dtype) < dtype_bytes(DType::f32);
  return is_narrow ? cast(x, DType::f32) : x;
}

Value NodeOps::matmul(const Value& a, const Value& b, MatmulAttributes how) const {
  return cast(node_.add(Operator::matmul, {widened(a), widened(b)}, how), a.type.dtype);
}

Value NodeOps::reduce(Operator op, const Value& x, std::vector<std::size_t> dimensions, bool keep) const {
  return dimensions.empty() ? x : node_.add(op, {x}, ReduceAttributes{std::move(dimensions), keep});
}

Value NodeOps::softmax(const Value& x, std::size_t dimension) const {
  return cast(node_.add(Operator::softmax, {widened(x)}, DimensionAttributes{dimension}), x.type.dtype);
}

// x - max - log(sum(exp(x - max))), because the logarithm of a softmax that rounds to 0 would be infinite
Value NodeOps::log_softmax(const Value& x, std::size_t dimension) const {
  const Value shifted = sub(x, reduce(Operator::reduce_max, x, {dimension}));
  return sub(shifted, log(reduce(Operator::reduce_sum, exp(shifted), {dimension})));
}

Value NodeOps::broadcast(const Value& x, const Shape& shape) const {
  return x.type.shape == shape ? x : node_.add(Operator::broadcast, {x}, BroadcastAttributes{shape});
}

Value NodeOps::transpose(const Value& x, const std::vector<std::size_t>& order) const {
  const bool keeps = std::is_sorted(order.begin(), order.end());
  return keeps ? x : node_.add(Operator::transpose, {x}, TransposeAttributes{order});
}

Value NodeOps::slice(const Value& x, std::size_t dimension, const Size& begin, const Size& count,
                     std::int64_t stride) const {
  const Shape& shape = x.type.shape;
  expect_dimension(node_, x, dimension);
  if (stride == 1 && count == shape[dimension]) return x;
  SliceAttributes slice = {Shape(shape.size(), 0), std::vector<std::int64_t>(shape.size(), 1), shape};
  slice.begin[dimension] = begin;
  slice.shape[dimension] = count;
  slice.stride[dimension] = stride;
  return node_.add(Operator::slice, {x}, slice);
}

Value NodeOps::pad(const Value& x, std::size_t dimension, const Size& before, const Size& after, double value) const {
  expect_dimension(node_, x, dimension);
  if (before.constant() == 0 && after.constant() == 0) return x;
  PadAttributes pad = {Shape(x.type.shape.size(), 0), Shape(x.type.shape.size(), 0)};
  if (is_float(x.type.dtype)) {
    pad.value = value;
  } else {
    pad.integer = static_cast<std::int64_t>(value);
  }
  pad.before[dimension] = before;
  pad.after[dimension] = after;
  return node_.add(Operator::pad, {x}, pad);
}

Value NodeOps::concat(std::vector<Value> parts, std::size_t dimension) const {
  while (parts.size() > 1) {
    std::vector<Value> joined;
    for (std::size_t first = 0; first < parts.size(); first += kMaxJoined) {
      const auto begin = parts.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = begin + static_cast<std::ptrdiff_t>(std::min(kMaxJoined, parts.size() - first));
      joined.push_back(end - begin == 1 ? *begin
                                        : node_.add(Operator::concat, {begin, end}, DimensionAttributes{dimension}));
    }
    parts = std::move(joined);
  }
  node_.expect(!parts.empty(), "at least one tensor to join", [] { return "none"; });
  return parts[0];
}

Value NodeOps::gather(const Value& x, const Value& indices, std::size_t dimension) const {
  return node_.add(Operator::gather, {x, indices}, DimensionAttributes{dimension});
}

Value NodeOps::gather_elements(const Value& x, const Value& indices, std::size_t dimension) const {
  return node_.add(Operator::gather_elements, {x, indices}, DimensionAttributes{dimension});
}

Value NodeOps::scatter(const Value& x, const Value& indices, const Value& updates, ScatterAttributes how) const {
  return node_.add(Operator::scatter, {x, indices, updates}, how);
}

Value NodeOps::iota(const Size& count) const { return node_.add(Operator::iota, {}, IotaAttributes{count}); }

Value NodeOps::iota(const Size& count, std::size_t dimension, std::size_t rank) const {
  Shape shape(rank, 1);
  shape[dimension] = count;
  return reshape(iota(count), shape);
}

Value NodeOps::filled(const TensorType& type, double value) const {
  return broadcast(node_.constant(type.dtype, value), type.shape);
}

std::vector<std::size_t> dimensions_from(std::size_t first, std::size_t rank) {
  std::vector<std::size_t> dimensions(rank - first);
  std::iota(dimensions.begin(), dimensions.end(), first);
  return dimensions;
}

}  // namespace ferry::graph::onnx
