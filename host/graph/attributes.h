// The attributes of a graph's operators: all that they compute depends on, apart from their inputs. Shapes are those of
// the plain layout: N, C, then the spatial dimensions.
#pragma once

#include "ferry/integer_products.h"
#include "ferry/types.h"
#include "host/graph/size.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

namespace ferry::graph {

// Elementwise operators broadcast their inputs as NumPy does.
struct NoAttributes {
  bool operator==(const NoAttributes&) const = default;
};

// The movement of a window along one spatial dimension.
struct WindowAttributes {
  std::int64_t kernel = 1, stride = 1, dilation = 1;
  std::int64_t pad_before = 0, pad_after = 0;
  bool operator==(const WindowAttributes&) const = default;
};

// conv: X [N, C, spatial...] with W [O, C / groups, kernel...] and optionally B [O], to [N, O, spatial...].
struct ConvAttributes {
  std::vector<WindowAttributes> windows;  // one for each spatial dimension
  std::int64_t groups = 1;
  std::int64_t winograd_tile = 0;  // 2 or 4: of Winograd's algorithm (ferry/ops/winograd.h); 0: computed directly
  // Whether its kernel also computes X, by another convolution (passes/fuse_windows.h).
  bool fuses_input = false;
  bool operator==(const ConvAttributes&) const = default;
};

// max_pool, average_pool: over windows of the spatial dimensions. With `ceil` too, each window begins inside the input
// or in the padding before it.
struct PoolAttributes {
  std::vector<WindowAttributes> windows;
  bool ceil = false;           // round the output's size up instead of down
  bool count_padding = false;  // an average divides by the window's size inside the padded input
  bool operator==(const PoolAttributes&) const = default;
};

// matmul: [batch..., M, K] times [batch..., K, N], with batch dimensions that broadcast; vectors as in NumPy.
struct MatmulAttributes {
  bool transposed_a = false, transposed_b = false;  // whether the last two dimensions are exchanged
  // Whether its kernel also computes its rows: a softmax of another product (passes/fuse_attention.h).
  bool fuses_rows = false;
  bool operator==(const MatmulAttributes&) const = default;
};

// Place of the zero point among the inputs of a product of 8-bit integers.
constexpr std::size_t zero_point_input(bool is_scaled) { return is_scaled ? 4 : 2; }

// quantized_conv, quantized_matmul: conv and matmul of (X - x_zero) * x_scale and W * w_scale, in float32 and without a
// bias; or of X - x_zero and W, in int32. Inputs are X of 8-bit integers, W of int8 or int16, with `is_scaled` the
// scales x_scale [] and w_scale [O], one for each filter or column, and optionally x_zero [] of int16.
struct QuantizedConvAttributes {
  ConvAttributes conv;
  bool is_scaled = true;
  bool in_integers = true;  // products are summed up as int32 and then scaled; otherwise both factors are scaled
  ops::IntegerProducts products = {};  // how, if the result has its channels in blocks
  bool operator==(const QuantizedConvAttributes&) const = default;
};
struct QuantizedMatmulAttributes {
  MatmulAttributes matmul;
  bool is_scaled = true;
  bool in_integers = true;
  ops::IntegerProducts products = {};
  std::int64_t lanes = 1;  // the vectors of sums for which W is packed; 1: it is not, and `products` means nothing
  bool operator==(const QuantizedMatmulAttributes&) const = default;
};

// packed_matmul: X [M, K] of float32 times weights of few bits, to [M, P, C]: the columns in panels of C, in which they
// are neighbours. Inputs are X, W [P, K * bits / word, C] of unsigned integers of `word` bits, each of which holds
// neighbours in K, the first in the low bits, scales [P, K / block, C] of float32, and optionally zero points of this
// shape, of uint8 or float32, which are 2^(bits - 1) otherwise. A weight is its number minus the zero point, times the
// scale.
//
// With int8 rows, each block of a row of X is rounded to multiples of 1/127 of its largest magnitude. The words of W
// are those of 32 bits, as four bytes each: [P, K * bits / 32, C, 4] of uint8.
struct PackedMatmulAttributes {
  std::int64_t bits = 4;     // 2, 4 or 8
  std::int64_t block = 32;   // weights of a column that share a scale, in whole words
  bool sums_blocks = false;  // the numbers of a block are summed up before they are scaled
  bool allows_int8 = false;  // whether the network allows int8 rows
  bool has_int8_rows = false;
  DType number = DType::u8;  // in products with int8, the weights' numbers have this type
  bool operator==(const PackedMatmulAttributes&) const = default;
};

// reduce_*: over these dimensions, ascending; reduce_mean of floats alone. arg_max and arg_min give the int64 index of
// the first greatest or least element, in row-major order of these dimensions; NaN counts as the greatest and as the
// least.
struct ReduceAttributes {
  std::vector<std::size_t> dimensions;
  bool keep = false;  // as dimensions of size 1
  bool operator==(const ReduceAttributes&) const = default;
};

// softmax: along this dimension. concat: of the inputs along it. gather: X and integers I, which index this dimension
// of X; I's dimensions replace it. An index lies in [-size, size) and counts from the end if it is negative.
struct DimensionAttributes {
  std::size_t dimension = 0;
  bool operator==(const DimensionAttributes&) const = default;
};

// gather_elements: X and integers I of its rank, which index this dimension of X as those of gather do. The other
// dimensions of both broadcast.

// scatter: X with elements replaced by those of U, or combined with them. The integers I say where each stands along
// this dimension, counted as those of gather; an index outside of the dimension changes nothing. I and U have as many
// entries in it, and broadcast to the shape of X in the other dimensions. The last of several equal indices replaces
// the others.
enum class ScatterMode : std::uint8_t { replace, add, mul, minimum, maximum };
struct ScatterAttributes {
  std::size_t dimension = 0;
  ScatterMode mode = ScatterMode::replace;
  bool operator==(const ScatterAttributes&) const = default;
};

// sort_rank: for each element its int64 place along this dimension if that were sorted. Equal elements keep their
// order; NaN counts as the greatest.
struct SortAttributes {
  std::size_t dimension = 0;
  bool descending = false;
  bool operator==(const SortAttributes&) const = default;
};

// top_k: the int64 indices of the greatest or the least elements of each line along the last dimension, the first ones
// of its elements in descending or ascending order. Equal elements keep their order; NaN counts as the greatest. The
// dimension has a constant size, which is at least the count.
struct TopKAttributes {
  std::int64_t count = 1;
  bool largest = true;
  bool operator==(const TopKAttributes&) const = default;
};

// cumulative_sum, cumulative_prod: for each element the sum or product of those up to it along this dimension, or from
// it on with `backwards`; without itself with `exclusive`. Floats of 16 bits are accumulated in float32.
struct CumulativeAttributes {
  std::size_t dimension = 0;
  bool exclusive = false;
  bool backwards = false;
  bool operator==(const CumulativeAttributes&) const = default;
};

// iota: the int64 vector 0, 1, ... of this many elements.
struct IotaAttributes {
  Size count;
  bool operator==(const IotaAttributes&) const = default;
};

// sizes: the int64 vector of these sizes, which may also be negative differences of sizes.
struct SizesAttributes {
  std::vector<Size> elements;
  bool operator==(const SizesAttributes&) const = default;
};

// batch_norm: (X - mean) / sqrt(variance + epsilon) * scale + bias; inputs X, scale, bias, mean, variance.
struct BatchNormAttributes {
  double epsilon = 1e-5;
  bool operator==(const BatchNormAttributes&) const = default;
};

// layer_norm: (X - mean) / sqrt(variance + epsilon) * scale + bias, with the mean and the population variance over this
// dimension and those after it; inputs X, and scale and bias with the shape of those dimensions.
struct LayerNormAttributes {
  std::size_t dimension = 0;
  double epsilon = 1e-5;
  bool operator==(const LayerNormAttributes&) const = default;
};

// reshape: the same elements in row-major order.
struct ReshapeAttributes {
  Shape shape;
  bool operator==(const ReshapeAttributes&) const = default;
};

// broadcast: X repeated to this shape, as an elementwise operator with a tensor of this shape would.
struct BroadcastAttributes {
  Shape shape;
  bool operator==(const BroadcastAttributes&) const = default;
};

// transpose: dimension d of the result is dimension order[d] of X.
struct TransposeAttributes {
  std::vector<std::size_t> order;
  bool operator==(const TransposeAttributes&) const = default;
};

// slice: element i of the result is X[begin + stride * i], in each dimension. A stride may be negative.
struct SliceAttributes {
  Shape begin;
  std::vector<std::int64_t> stride;
  Shape shape;  // the result's
  bool operator==(const SliceAttributes&) const = default;
};

// pad: X with this many elements before and after it in each dimension: of `value` if X has floats, and otherwise of
// `integer`, which a double could not hold exactly.
struct PadAttributes {
  Shape before, after;
  double value = 0;
  std::int64_t integer = 0;
  bool operator==(const PadAttributes&) const = default;
};

// cast: as casts in host/lang.
struct CastAttributes {
  DType to = DType::f32;
  bool operator==(const CastAttributes&) const = default;
};

// A tensor of which each iteration of a loop reads or writes one entry of the first dimension.
struct LoopTensor {
  bool is_backwards = false;  // the first iteration has the last entry
  // The entry is not copied: the nodes read or write it where it lies in the whole tensor.
  bool in_place = false;
  bool operator==(const LoopTensor&) const = default;
};

// loop, end_loop: the nodes between them run `count` times, which is 0 or more. They nest like brackets, and
// both have the same count. A loop has states, and then tensors: its inputs are the first values of the states and
// whole tensors, and its results are the states and an entry of each tensor, as an iteration begins. Those of end_loop
// are the next values of the states and an entry of each tensor that the loop computes; its results are the last values
// of the states, and whole tensors. What is computed inside is read outside only as a result of end_loop.
// With a condition, the first state is a bool scalar, and the loop ends before the first iteration at whose beginning
// it is false. In whole tensors, the entries of iterations that do not run are 0.
struct LoopAttributes {
  Size count;
  std::vector<LoopTensor> tensors;
  bool has_condition = false;
  bool operator==(const LoopAttributes&) const = default;
};

using Attributes =
    std::variant<NoAttributes, ConvAttributes, PoolAttributes, MatmulAttributes, QuantizedConvAttributes,
                 QuantizedMatmulAttributes, PackedMatmulAttributes, ReduceAttributes, DimensionAttributes,
                 BatchNormAttributes, LayerNormAttributes, ReshapeAttributes, BroadcastAttributes, TransposeAttributes,
                 SliceAttributes, PadAttributes, CastAttributes, ScatterAttributes, SortAttributes, TopKAttributes,
                 CumulativeAttributes, IotaAttributes, SizesAttributes, LoopAttributes>;

}  // namespace ferry::graph
