#include "crosscompile/ir/error.h"
#include "ferry/ops/sorting.h"
#include "host/graph/graph.h"
#include "host/graph/node_check.h"
#include "host/graph/packed_type.h"
#include "host/graph/window.h"

#include <algorithm>

namespace ferry::graph {

namespace {

Shape expect_broadcast(const NodeCheck& check, const Shape& a, const Shape& b) {
  std::optional<Shape> shape = broadcast_shapes(a, b, check.undecided());
  check.expect(shape.has_value(), "shapes that broadcast", [&] { return to_text(a) + " and " + to_text(b); });
  return *std::move(shape);
}

Shape conv_shape(const NodeCheck& check, const ConvAttributes& conv, std::span<const TensorType> inputs) {
  const Shape &x = inputs[0].shape, &w = inputs[1].shape;
  const std::size_t spatial = conv.windows.size();
  check.rank("the input", x, spatial + 2);
  check.rank("the filters", w, spatial + 2);
  check.expect(conv.groups > 0, "at least one group", [&] { return std::to_string(conv.groups); });
  check.equal("the filters' channels times groups", w[1] * conv.groups, "the input's channels", x[1]);
  check.expect(divide_exactly(w[0], conv.groups).has_value(), "a number of filters that the groups divide",
               [&] { return to_text(w[0]) + " for " + std::to_string(conv.groups) + " groups"; });
  if (inputs.size() > 2) {
    check.rank("the bias", inputs[2].shape, 1);
    check.equal("the bias's size", inputs[2].shape[0], "the number of filters", w[0]);
  }
  Shape result = {x[0], w[0]};
  for (std::size_t i = 0; i < spatial; ++i) {
    check.equal("a kernel's size", conv.windows[i].kernel, "the filters'", w[i + 2]);
    result.push_back(window_count(check, x[i + 2], conv.windows[i], false));
  }
  return result;
}

Shape pool_shape(const NodeCheck& check, const PoolAttributes& pool, const Shape& x) {
  check.rank("the input", x, pool.windows.size() + 2);
  Shape result = {x[0], x[1]};
  for (std::size_t i = 0; i < pool.windows.size(); ++i) {
    result.push_back(window_count(check, x[i + 2], pool.windows[i], pool.ceil));
  }
  return result;
}

Shape matmul_shape(const NodeCheck& check, const MatmulAttributes& matmul, Shape a, Shape b) {
  check.expect(!a.empty() && !b.empty(), "two tensors of rank 1 or more", [] { return "a scalar"; });
  const bool a_is_vector = a.size() == 1, b_is_vector = b.size() == 1;
  if (a_is_vector) a.insert(a.begin(), 1);
  if (b_is_vector) b.push_back(1);
  if (matmul.transposed_a && !a_is_vector) std::swap(a[a.size() - 1], a[a.size() - 2]);
  if (matmul.transposed_b && !b_is_vector) std::swap(b[b.size() - 1], b[b.size() - 2]);
  check.equal("the first input's columns", a.back(), "the second's rows", b[b.size() - 2]);
  Shape result = expect_broadcast(check, Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  if (!a_is_vector) result.push_back(a[a.size() - 2]);
  if (!b_is_vector) result.push_back(b.back());
  return result;
}

// Checks the types and the scales of a product of 8-bit integers, and returns its type.
std::vector<TensorType> quantized_type(const NodeCheck& check, std::span<const TensorType> inputs, const Shape& shape,
                                       const Size& filters, bool is_scaled) {
  check.expect((inputs[0].dtype == DType::u8 || inputs[0].dtype == DType::i8) &&
                   (inputs[1].dtype == DType::i8 || inputs[1].dtype == DType::i16),
               "8-bit integers times int8 or int16",
               [&] { return std::string(dtype_name(inputs[0].dtype)) + " times " + dtype_name(inputs[1].dtype); });
  const std::size_t zero = zero_point_input(is_scaled);
  if (is_scaled) {
    check.expect(inputs[2] == TensorType{DType::f32, {}}, "one scale of the input", [&] { return to_text(inputs[2]); });
    check.expect(inputs[3] == TensorType{DType::f32, {filters}}, "a scale for each filter",
                 [&] { return to_text(inputs[3]); });
  }
  if (inputs.size() > zero)
    check.expect(inputs[zero] == TensorType{DType::i16, {}}, "one zero point of int16",
                 [&] { return to_text(inputs[zero]); });
  return {{is_scaled ? DType::f32 : DType::i32, shape}};
}

Shape top_k_shape(const NodeCheck& check, const TopKAttributes& top, Shape x) {
  const std::int64_t size = x.empty() ? 0 : x.back().constant().value_or(0);
  check.expect(top.count >= 1 && top.count <= size && size <= ops::kMaxSortedSize,
               "a last dimension of at least " + std::to_string(top.count) + " elements and at most " +
                   std::to_string(ops::kMaxSortedSize),
               [&] { return to_text(x); });
  x.back() = top.count;
  return x;
}

Shape reduce_shape(const NodeCheck& check, const ReduceAttributes& reduce, const Shape& x) {
  Shape result;
  std::size_t next = 0;
  for (std::size_t d = 0; d < x.size(); ++d) {
    const bool reduced = next < reduce.dimensions.size() && reduce.dimensions[next] == d;
    next += reduced ? 1 : 0;
    if (!reduced) result.push_back(x[d]);
    if (reduced && reduce.keep) result.push_back(1);
  }
  check.expect(next == reduce.dimensions.size(), "ascending dimensions of the input to reduce",
               [&] { return "others for " + to_text(x); });
  return result;
}

Shape concat_shape(const NodeCheck& check, std::size_t dimension, std::span<const TensorType> inputs) {
  Shape result = inputs[0].shape;
  check.dimension(dimension, result);
  for (const TensorType& input : inputs.subspan(1)) {
    check.rank("each input", input.shape, result.size());
    check.same_dtype(inputs[0].dtype, input.dtype);
    for (std::size_t d = 0; d < result.size(); ++d) {
      if (d != dimension) check.equal("one input's size", result[d], "another's", input.shape[d]);
    }
    result[dimension] = result[dimension] + input.shape[dimension];
  }
  return result;
}

void check_index(const NodeCheck& check, DType dtype) {
  check.expect(is_signed_int(dtype), "signed integers as indices", [&] { return dtype_name(dtype); });
}

Shape gather_shape(const NodeCheck& check, std::size_t dimension, std::span<const TensorType> inputs) {
  const Shape &x = inputs[0].shape, &indices = inputs[1].shape;
  check.dimension(dimension, x);
  check_index(check, inputs[1].dtype);
  Shape result(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(dimension));
  result.insert(result.end(), indices.begin(), indices.end());
  result.insert(result.end(), x.begin() + static_cast<std::ptrdiff_t>(dimension) + 1, x.end());
  return result;
}

// Returns the shape to which both broadcast, except in one dimension, in which it is that of the indices.
Shape gather_elements_shape(const NodeCheck& check, std::size_t dimension, std::span<const TensorType> inputs) {
  Shape x = inputs[0].shape;
  const Shape& indices = inputs[1].shape;
  check.dimension(dimension, x);
  check_index(check, inputs[1].dtype);
  check.rank("the indices", indices, x.size());
  x[dimension] = indices[dimension];
  return expect_broadcast(check, x, indices);
}

Shape scatter_shape(const NodeCheck& check, std::size_t dimension, std::span<const TensorType> inputs) {
  const Shape &x = inputs[0].shape, &indices = inputs[1].shape, &updates = inputs[2].shape;
  check.dimension(dimension, x);
  check_index(check, inputs[1].dtype);
  check.same_dtype(inputs[0].dtype, inputs[2].dtype);
  check.rank("the indices", indices, x.size());
  check.rank("the updates", updates, x.size());
  for (std::size_t d = 0; d < x.size(); ++d) {
    const Size& whole = d == dimension ? updates[d] : x[d];
    for (const Size& size : {indices[d], updates[d]}) {
      const bool fits = (size.constant() == 1 && d != dimension) ||
                        check.is_equal("a size of the indices and updates", size, "that of what they fit", whole);
      check.expect(fits, "indices and updates that fit the input",
                   [&] { return to_text(indices) + " and " + to_text(updates) + " for " + to_text(x); });
    }
  }
  return x;
}

Shape transpose_shape(const NodeCheck& check, const std::vector<std::size_t>& order, const Shape& x) {
  std::vector<bool> used(x.size());
  Shape result;
  for (const std::size_t d : order) {
    check.expect(d < x.size() && !used[d], "a permutation of the dimensions",
                 [&] { return "another for " + to_text(x); });
    used[d] = true;
    result.push_back(x[d]);
  }
  check.rank("the input", x, order.size());
  return result;
}

Shape slice_shape(const NodeCheck& check, const SliceAttributes& slice, const Shape& x) {
  check.rank("the input", x, slice.shape.size());
  check.expect(slice.begin.size() == x.size() && slice.stride.size() == x.size(), "a begin and a stride a dimension",
               [] { return "another number"; });
  for (std::size_t d = 0; d < x.size(); ++d) {
    check.expect(!proves_less(slice.shape[d], 0), "a slice of 0 or more elements",
                 [&] { return to_text(slice.shape); });
    const Size first = slice.begin[d], last = first + (slice.shape[d] - 1) * slice.stride[d];
    const bool outside =
        proves_less(0, slice.shape[d]) &&
        (proves_less(first, 0) || proves_less(last, 0) || proves_less(x[d] - 1, first) || proves_less(x[d] - 1, last));
    check.expect(!outside, "elements inside the input",
                 [&] { return to_text(first) + " to " + to_text(last) + " of a dimension of " + to_text(x[d]); });
  }
  return slice.shape;
}

Shape pad_shape(const NodeCheck& check, const PadAttributes& pad, Shape x) {
  check.rank("the padding before the input", pad.before, x.size());
  check.rank("the padding after the input", pad.after, x.size());
  for (std::size_t d = 0; d < x.size(); ++d) {
    check.expect(!proves_less(pad.before[d], 0) && !proves_less(pad.after[d], 0), "padding of 0 or more elements",
                 [&] { return to_text(pad.before) + " and " + to_text(pad.after); });
    x[d] = pad.before[d] + x[d] + pad.after[d];
  }
  return x;
}

Shape reshape_shape(const NodeCheck& check, const Shape& from, const Shape& to) {
  const Size before = element_count(from), after = element_count(to);
  if (before == after) return to;
  const std::string what = "the elements of " + to_text(to), other = "those of " + to_text(from);
  check.expect(check.is_equal(what, after, other, before) || !proves_different(after, before),
               what + " to equal " + other, [&] { return to_text(after) + " and " + to_text(before); });
  return to;
}

Shape broadcast_shape(const NodeCheck& check, const Shape& from, const Shape& to) {
  bool fits = from.size() <= to.size();
  for (std::size_t d = 0; fits && d < to.size(); ++d) {
    const Size size = size_at(from, d, to.size());
    fits = size.constant() == 1 || check.is_equal("a size", size, "that of the result", to[d]);
  }
  check.expect(fits, "a shape that broadcasts to " + to_text(to), [&] { return to_text(from); });
  return to;
}

void check_channels(const NodeCheck& check, std::span<const TensorType> inputs) {
  check.expect(inputs[0].shape.size() >= 2, "an input with channels", [&] { return to_text(inputs[0].shape); });
  for (const TensorType& input : inputs.subspan(1)) {
    check.rank("scale, bias, mean and variance", input.shape, 1);
    check.equal("their size", input.shape[0], "the number of channels", inputs[0].shape[1]);
  }
}

void check_layer_norm(const NodeCheck& check, std::size_t dimension, std::span<const TensorType> inputs) {
  check.dimension(dimension, inputs[0].shape);
  const Shape inner(inputs[0].shape.begin() + static_cast<std::ptrdiff_t>(dimension), inputs[0].shape.end());
  for (const TensorType& input : inputs.subspan(1)) {
    check.expect(input.shape == inner, "a scale and a bias of shape " + to_text(inner),
                 [&] { return to_text(input.shape); });
  }
}

bool is_of_reals(Operator op) {
  constexpr Operator kOfReals[] = {Operator::exp,     Operator::log,  Operator::sqrt, Operator::erf,   Operator::tanh,
                                   Operator::sigmoid, Operator::sin,  Operator::cos,  Operator::floor, Operator::ceil,
                                   Operator::round,   Operator::pow,  Operator::tan,  Operator::asin,  Operator::acos,
                                   Operator::atan,    Operator::sinh, Operator::cosh, Operator::expm1, Operator::log1p};
  return std::find(std::begin(kOfReals), std::end(kOfReals), op) != std::end(kOfReals);
}

bool is_of_bits(Operator op) {
  constexpr Operator kOfBits[] = {Operator::bit_not, Operator::bit_and,    Operator::bit_or,
                                  Operator::bit_xor, Operator::shift_left, Operator::shift_right};
  return std::find(std::begin(kOfBits), std::end(kOfBits), op) != std::end(kOfBits);
}

// Means and normalisations divide, so that their results are no integers.
void check_floats(const NodeCheck& check, DType dtype) {
  check.expect(is_float(dtype), "floats", [&] { return dtype_name(dtype); });
}

// Functions of real numbers take floats, and those of bits integers; the others any numbers.
void check_domain(const NodeCheck& check, Operator op, DType dtype) {
  if (is_of_reals(op)) check_floats(check, dtype);
  check.expect(!is_of_bits(op) || is_signed_int(dtype) || is_unsigned_int(dtype), "integers",
               [&] { return dtype_name(dtype); });
}

TensorType binary_type(const NodeCheck& check, Operator op, std::span<const TensorType> inputs) {
  check.same_dtype(inputs[0].dtype, inputs[1].dtype);
  check_domain(check, op, inputs[0].dtype);
  Shape shape = expect_broadcast(check, inputs[0].shape, inputs[1].shape);
  const bool compares = op == Operator::equal || op == Operator::less || op == Operator::less_equal;
  return {compares ? DType::boolean : inputs[0].dtype, std::move(shape)};
}

std::vector<TensorType> loop_types(const NodeCheck& check, const Node& node, std::span<const TensorType> inputs) {
  const auto& loop = check.attributes<LoopAttributes>();
  check.expect(!inputs.empty() && loop.tensors.size() <= inputs.size(), "a state or a tensor",
               [] { return "another number of inputs"; });
  const bool has_states = inputs.size() > loop.tensors.size();
  check.expect(!loop.has_condition || (has_states && inputs[0] == TensorType{DType::boolean, {}}),
               "a bool scalar as the first state, the condition", [&] { return to_text(inputs[0]); });
  std::vector<TensorType> types(inputs.begin(), inputs.end());
  for (TensorType& type : std::span(types).last(loop.tensors.size())) {
    if (node.op == Operator::end_loop) {
      type.shape.insert(type.shape.begin(), loop.count);
      continue;
    }
    check.dimension(0, type.shape);
    check.equal("the entries of a tensor", type.shape[0], "the number of iterations", loop.count);
    type.shape.erase(type.shape.begin());
  }
  return types;
}

TensorType where_type(const NodeCheck& check, std::span<const TensorType> inputs) {
  check.expect(inputs[0].dtype == DType::boolean, "a condition of bool", [&] { return dtype_name(inputs[0].dtype); });
  check.same_dtype(inputs[1].dtype, inputs[2].dtype);
  return {inputs[1].dtype,
          expect_broadcast(check, inputs[0].shape, expect_broadcast(check, inputs[1].shape, inputs[2].shape))};
}

}  // namespace

std::vector<TensorType> infer_types(const Node& node, std::span<const TensorType> inputs,
                                    std::vector<EqualSizes>* undecided) {
  const NodeCheck check(node, undecided);
  check.input_count(inputs.size());
  const auto type = [&](Shape shape) { return std::vector<TensorType>{{inputs[0].dtype, std::move(shape)}}; };
  const auto same_dtypes = [&] {
    for (const TensorType& input : inputs) check.same_dtype(inputs[0].dtype, input.dtype);
  };
  switch (node.op) {
    case Operator::conv: same_dtypes(); return type(conv_shape(check, check.attributes<ConvAttributes>(), inputs));
    case Operator::matmul:
      same_dtypes();
      return type(matmul_shape(check, check.attributes<MatmulAttributes>(), inputs[0].shape, inputs[1].shape));
    case Operator::quantized_conv: {
      const auto& quantized = check.attributes<QuantizedConvAttributes>();
      return quantized_type(check, inputs, conv_shape(check, quantized.conv, inputs.first(2)), inputs[1].shape[0],
                            quantized.is_scaled);
    }
    case Operator::quantized_matmul: {
      const auto& quantized = check.attributes<QuantizedMatmulAttributes>();
      const MatmulAttributes& matmul = quantized.matmul;
      const Shape shape = matmul_shape(check, matmul, inputs[0].shape, inputs[1].shape);
      check.rank("the matrix of constants", inputs[1].shape, 2);
      return quantized_type(check, inputs, shape, inputs[1].shape[matmul.transposed_b ? 0 : 1], quantized.is_scaled);
    }
    case Operator::packed_matmul: return {packed_matmul_type(check, inputs)};
    case Operator::average_pool: check_floats(check, inputs[0].dtype); [[fallthrough]];
    case Operator::max_pool: return type(pool_shape(check, check.attributes<PoolAttributes>(), inputs[0].shape));
    case Operator::reduce_mean: check_floats(check, inputs[0].dtype); [[fallthrough]];
    case Operator::reduce_sum:
    case Operator::reduce_max:
    case Operator::reduce_min:
    case Operator::reduce_prod: return type(reduce_shape(check, check.attributes<ReduceAttributes>(), inputs[0].shape));
    case Operator::softmax:
      check_floats(check, inputs[0].dtype);
      check.dimension(check.attributes<DimensionAttributes>().dimension, inputs[0].shape);
      return type(inputs[0].shape);
    case Operator::batch_norm:
      check_floats(check, inputs[0].dtype);
      check_channels(check, inputs);
      return type(inputs[0].shape);
    case Operator::layer_norm:
      same_dtypes();
      check_floats(check, inputs[0].dtype);
      check_layer_norm(check, check.attributes<LayerNormAttributes>().dimension, inputs);
      return type(inputs[0].shape);
    case Operator::reshape:
      return type(reshape_shape(check, inputs[0].shape, check.attributes<ReshapeAttributes>().shape));
    case Operator::broadcast:
      return type(broadcast_shape(check, inputs[0].shape, check.attributes<BroadcastAttributes>().shape));
    case Operator::transpose:
      return type(transpose_shape(check, check.attributes<TransposeAttributes>().order, inputs[0].shape));
    case Operator::slice: return type(slice_shape(check, check.attributes<SliceAttributes>(), inputs[0].shape));
    case Operator::pad: return type(pad_shape(check, check.attributes<PadAttributes>(), inputs[0].shape));
    case Operator::concat: return type(concat_shape(check, check.attributes<DimensionAttributes>().dimension, inputs));
    case Operator::convert: check.rank("the image", inputs[0].shape, 4); return type(inputs[0].shape);
    case Operator::gather: return type(gather_shape(check, check.attributes<DimensionAttributes>().dimension, inputs));
    case Operator::gather_elements:
      return type(gather_elements_shape(check, check.attributes<DimensionAttributes>().dimension, inputs));
    case Operator::scatter: return type(scatter_shape(check, check.attributes<ScatterAttributes>().dimension, inputs));
    case Operator::arg_max:
    case Operator::arg_min:
      return {{DType::i64, reduce_shape(check, check.attributes<ReduceAttributes>(), inputs[0].shape)}};
    case Operator::sort_rank:
      check.dimension(check.attributes<SortAttributes>().dimension, inputs[0].shape);
      return {{DType::i64, inputs[0].shape}};
    case Operator::top_k:
      return {{DType::i64, top_k_shape(check, check.attributes<TopKAttributes>(), inputs[0].shape)}};
    case Operator::cumulative_sum:
    case Operator::cumulative_prod:
      check.dimension(check.attributes<CumulativeAttributes>().dimension, inputs[0].shape);
      return type(inputs[0].shape);
    case Operator::iota: return {{DType::i64, {check.attributes<IotaAttributes>().count}}};
    case Operator::sizes:
      return {{DType::i64, {static_cast<std::int64_t>(check.attributes<SizesAttributes>().elements.size())}}};
    case Operator::cast: return {{check.attributes<CastAttributes>().to, inputs[0].shape}};
    case Operator::loop:
    case Operator::end_loop: return loop_types(check, node, inputs);
    case Operator::where: return {where_type(check, inputs)};
#define FERRY_CASE(name, count, attributes) case Operator::name:
      FERRY_GRAPH_UNARY(FERRY_CASE)
      check_domain(check, node.op, inputs[0].dtype);
      return type(inputs[0].shape);
      FERRY_GRAPH_BINARY(FERRY_CASE)
#undef FERRY_CASE
      return {binary_type(check, node.op, inputs)};
  }
  throw InternalError("infer_types: unknown operator");
}

}  // namespace ferry::graph
