// The graph's operators as functions of values, for importers that build expressions of them.
#pragma once

#include <utility>
#include <vector>

#include "host/graph/onnx/node_import.h"

namespace ferry::graph::onnx {

// An index out of bounds for any tensor, which scatter ignores.
inline constexpr double kNoIndex = -0x1p60;

class NodeOps {
 public:
  explicit NodeOps(const NodeImport& node) : node_(node) {}

  // Elementwise functions; a number beside a tensor takes its type.
#define FERRY_FUNCTION(name, inputs, attributes) \
  Value name(const Value& a) const { return node_.add(Operator::name, {a}); }
  FERRY_GRAPH_UNARY(FERRY_FUNCTION)
#undef FERRY_FUNCTION
#define FERRY_FUNCTION(name, inputs, attributes)                                                 \
  Value name(const Value& a, const Value& b) const { return node_.add(Operator::name, {a, b}); } \
  Value name(const Value& a, double b) const { return name(a, number(a, b)); }                   \
  Value name(double a, const Value& b) const { return name(number(b, a), b); }
  FERRY_GRAPH_BINARY(FERRY_FUNCTION)
#undef FERRY_FUNCTION
  Value number(const Value& like, double value) const { return node_.constant(like.type.dtype, value); }
  // Returns a scalar of int64, exact where a double would be rounded.
  Value size(const Size& value) const { return node_.known({DType::i64, {}}, Known{{value}, {}}); }
  Value where(const Value& condition, const Value& yes, const Value& no) const {
    return node_.add(Operator::where, {condition, yes, no});
  }
  Value cast(const Value& x, DType to) const { return node_.cast(x, to); }
  Value clamp(const Value& x, double low, double high) const { return minimum(maximum(x, low), high); }

  // Returns narrow floats as float32: sums of many would lose the digits that their terms have.
  Value widened(const Value& x) const;

  // Products and reductions. Reduced dimensions are kept with size 1 unless told otherwise.
  Value matmul(const Value& a, const Value& b, MatmulAttributes how = {}) const;
  Value reduce(Operator op, const Value& x, std::vector<std::size_t> dimensions, bool keep = true) const;

  // Along one dimension.
  Value softmax(const Value& x, std::size_t dimension) const;
  Value log_softmax(const Value& x, std::size_t dimension) const;

  // Movement. Shapes that are there already change nothing.
  Value reshape(const Value& x, Shape shape) const { return node_.reshape(x, std::move(shape)); }
  Value broadcast(const Value& x, const Shape& shape) const;
  Value transpose(const Value& x, const std::vector<std::size_t>& order) const;
  // Returns `count` entries of a dimension from `begin` on, with a stride.
  Value slice(const Value& x, std::size_t dimension, const Size& begin, const Size& count,
              std::int64_t stride = 1) const;
  Value pad(const Value& x, std::size_t dimension, const Size& before, const Size& after, double value = 0) const;
  // Joins any number of tensors; a kernel joins few.
  Value concat(std::vector<Value> parts, std::size_t dimension) const;
  Value gather(const Value& x, const Value& indices, std::size_t dimension) const;
  Value gather_elements(const Value& x, const Value& indices, std::size_t dimension) const;
  Value scatter(const Value& x, const Value& indices, const Value& updates, ScatterAttributes how) const;

  // Returns 0, 1, ... as int64, along one dimension of a tensor of this rank.
  Value iota(const Size& count) const;
  Value iota(const Size& count, std::size_t dimension, std::size_t rank) const;
  // Returns a tensor filled with one number.
  Value filled(const TensorType& type, double value) const;

 private:
  const NodeImport& node_;
};

// Returns the dimensions from `first` to the end.
std::vector<std::size_t> dimensions_from(std::size_t first, std::size_t rank);

}  // namespace ferry::graph::onnx
