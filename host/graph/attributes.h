// What the operators of a graph compute, apart from their inputs. Shapes are those of the plain layout: N, C, then the
// spatial dimensions.
#pragma once

#include "host/graph/size.h"

#include <compare>
#include <cstdint>
#include <variant>
#include <vector>

namespace ferry::graph {

// Elementwise operators broadcast their inputs as NumPy does.
struct NoAttributes {
  bool operator==(const NoAttributes&) const = default;
};

// How a window moves along one spatial dimension.
struct WindowAttributes {
  std::int64_t kernel = 1, stride = 1, dilation = 1;
  std::int64_t pad_before = 0, pad_after = 0;
  bool operator==(const WindowAttributes&) const = default;
};

// conv: X [N, C, spatial...] with W [O, C / groups, kernel...] and optionally B [O], to [N, O, spatial...].
struct ConvAttributes {
  std::vector<WindowAttributes> windows;  // one for each spatial dimension
  std::int64_t groups = 1;
  bool operator==(const ConvAttributes&) const = default;
};

// max_pool, average_pool: over windows of the spatial dimensions.
struct PoolAttributes {
  std::vector<WindowAttributes> windows;
  bool ceil = false;           // round the output's size up instead of down
  bool count_padding = false;  // an average divides by the whole window's size
  bool operator==(const PoolAttributes&) const = default;
};

// matmul: [batch..., M, K] times [batch..., K, N], with batch dimensions that broadcast; vectors as in NumPy.
struct MatmulAttributes {
  bool transposed_a = false, transposed_b = false;  // of the last two dimensions
  bool operator==(const MatmulAttributes&) const = default;
};

// reduce_*: over these dimensions, ascending.
struct ReduceAttributes {
  std::vector<std::size_t> dimensions;
  bool keep = false;  // as dimensions of size 1
  bool operator==(const ReduceAttributes&) const = default;
};

// batch_norm: (X - mean) / sqrt(variance + epsilon) * scale + bias; inputs X, scale, bias, mean, variance.
struct BatchNormAttributes {
  double epsilon = 1e-5;
  bool operator==(const BatchNormAttributes&) const = default;
};

// reshape: the same elements in row-major order.
struct ReshapeAttributes {
  Shape shape;
  bool operator==(const ReshapeAttributes&) const = default;
};

using Attributes = std::variant<NoAttributes, ConvAttributes, PoolAttributes, MatmulAttributes, ReduceAttributes,
                                BatchNormAttributes, ReshapeAttributes>;

}  // namespace ferry::graph
