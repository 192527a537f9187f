#include "host/graph/onnx/data_masks.h"

#include <algorithm>
#include <limits>

#include "ferry/error.h"
#include "host/graph/onnx/node_ops.h"

namespace ferry::graph::onnx {
namespace {

class Masking {
 public:
  Masking(GraphBuilder& builder, const std::string& name, Operator op, const std::vector<Value>& inputs,
          const Attributes& attributes)
      : builder_(builder), name_(name), op_(op), inputs_(inputs), attributes_(attributes) {}

  std::optional<Value> run() {
    switch (op_) {
      case Operator::conv:
      case Operator::quantized_conv:
      case Operator::max_pool:
      case Operator::average_pool: expect_known(0, 1, shape(0).size()); return {};
      case Operator::quantized_matmul:
      case Operator::packed_matmul: expect_known(0, shape(0).size() - 1, shape(0).size()); return {};
      case Operator::layer_norm:
        expect_known(0, attributes<LayerNormAttributes>().dimension, shape(0).size());
        return {};
      case Operator::top_k: expect_known(0, shape(0).size() - 1, shape(0).size()); return {};
      case Operator::matmul: return product();
      case Operator::reduce_mean: return mean();
      case Operator::reduce_sum:
      case Operator::reduce_max:
      case Operator::reduce_min:
      case Operator::reduce_prod:
      case Operator::arg_max:
      case Operator::arg_min: return masked(0, attributes<ReduceAttributes>().dimensions, neutral(inputs_[0]));
      case Operator::softmax: return masked(0, {dimension()}, number(inputs_[0], -kInfinity));
      case Operator::sort_rank: return ranks();
      case Operator::cumulative_sum:
      case Operator::cumulative_prod: {
        const auto& how = attributes<CumulativeAttributes>();
        if (!how.backwards) return {};
        return masked(0, {how.dimension}, number(inputs_[0], op_ == Operator::cumulative_sum ? 0 : 1));
      }
      case Operator::reshape: expect_order(); return {};
      case Operator::slice: return slice();
      case Operator::pad: return pad();
      case Operator::concat: return concat();
      case Operator::gather:
      case Operator::gather_elements: return gather();
      case Operator::scatter: return scatter();
      case Operator::loop:
      case Operator::end_loop:
      case Operator::convert:
      case Operator::batch_norm:
      case Operator::broadcast:
      case Operator::transpose:
      case Operator::iota:
      case Operator::sizes:
      case Operator::cast:
      case Operator::where: return {};
#define FERRY_CASE(name, count, attributes) case Operator::name:
        FERRY_GRAPH_UNARY(FERRY_CASE)
        FERRY_GRAPH_BINARY(FERRY_CASE)
#undef FERRY_CASE
        return {};
    }
    return {};
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  template <class T>
  const T& attributes() const {
    return std::get<T>(attributes_);
  }
  const Shape& shape(std::size_t input) const { return inputs_[input].type.shape; }
  std::size_t dimension() const { return attributes<DimensionAttributes>().dimension; }
  bool depends(const Size& size) const { return builder_.depends_on_data(size); }

  [[noreturn]] void refuse(const std::string& expected, const Shape& got) const {
    throw CompileError("expected " + expected + ", got " + to_text(got) + ", whose size depends on data");
  }
  void expect_known(std::size_t input, std::size_t first, std::size_t end) const {
    const Shape& sizes = shape(input);
    for (std::size_t d = first; d < end && d < sizes.size(); ++d)
      if (depends(sizes[d])) refuse("a size that is known before the call in the dimensions that are combined", sizes);
  }

  // Building.
  Value add(Operator op, const std::vector<Value>& inputs, const Attributes& attributes = {}) const {
    return builder_.add(name_, op, inputs, attributes);
  }
  Value append(const std::vector<Value>& inputs) const { return builder_.append(name_, op_, inputs, attributes_); }
  Value size(const Size& size) const { return constant({DType::i64, {}}, Known{{size}}); }
  Value constant(TensorType type, Known contents) const {
    Value value = {std::move(type)};
    value.known = std::make_shared<Known>(std::move(contents));
    value.name = name_;
    return value;
  }
  Value number(const Value& like, double value) const {
    const DType type = like.type.dtype;
    return constant({type, {}},
                    is_float(type) ? Known{{}, {rounded(type, value)}} : Known{{static_cast<std::int64_t>(value)}});
  }
  // Returns the least or the greatest number of the type.
  Value extreme(const Value& like, bool is_least) const {
    const DType type = like.type.dtype;
    if (is_float(type)) return number(like, is_least ? -kInfinity : kInfinity);
    const std::size_t bits = type == DType::boolean ? 1 : 8 * dtype_bytes(type);
    const bool is_signed = is_signed_int(type);
    if (!is_signed && bits == 64 && !is_least) refuse("another type than u64", like.type.shape);
    const auto most = static_cast<std::int64_t>(~std::uint64_t{0} >> (is_signed ? 65 - bits : 64 - bits));
    return constant({type, {}}, Known{{is_least ? (is_signed ? -most - 1 : 0) : most}});
  }

  // Returns 0, 1, ... along one dimension of a tensor of this rank.
  Value places(const Size& count, std::size_t d, std::size_t rank) const {
    Shape aligned(rank, 1);
    aligned[d] = count;
    const Value all = add(Operator::iota, {}, IotaAttributes{count});
    return rank == 1 ? all : add(Operator::reshape, {all}, ReshapeAttributes{aligned});
  }
  // Returns x with other elements behind the count in a dimension.
  Value mask(const Value& x, std::size_t d, const Value& other) const {
    const Size& count = x.type.shape[d];
    if (!depends(count)) return x;
    const Value is_there = add(Operator::less, {places(count, d, x.type.shape.size()), size(count)});
    return add(Operator::where, {is_there, x, other});
  }
  Value clamped(const Value& index, const Size& count) const {
    const Value last = add(Operator::minimum, {index, size(count - 1)});
    return add(Operator::maximum, {last, size(0)});
  }

  std::optional<Value> masked(std::size_t input, const std::vector<std::size_t>& dimensions, const Value& other) const {
    std::vector<Value> inputs = inputs_;
    for (const std::size_t d : dimensions) inputs[input] = mask(inputs[input], d, other);
    return append(inputs);
  }

  // Returns what a reduction of these elements and others ignores.
  Value neutral(const Value& x) const {
    if (op_ == Operator::reduce_prod) return number(x, 1);
    if (op_ == Operator::reduce_max || op_ == Operator::arg_max) return extreme(x, true);
    if (op_ == Operator::reduce_min || op_ == Operator::arg_min) return extreme(x, false);
    return number(x, 0);
  }

  std::optional<Value> mean() const {
    const std::vector<std::size_t>& dimensions = attributes<ReduceAttributes>().dimensions;
    Size count = 1;
    for (const std::size_t d : dimensions) count = count * shape(0)[d];
    if (!depends(count)) return {};
    const Value sum = add(Operator::reduce_sum, {inputs_[0]}, attributes_);
    return add(Operator::div, {sum, add(Operator::cast, {size(count)}, CastAttributes{sum.type.dtype})});
  }

  std::optional<Value> product() const {
    const auto& how = attributes<MatmulAttributes>();
    const auto inner = [](std::size_t rank, bool is_last) { return rank == 1 || is_last ? rank - 1 : rank - 2; };
    const std::size_t a = inner(shape(0).size(), !how.transposed_a), b = inner(shape(1).size(), how.transposed_b);
    if (!depends(shape(0)[a]) && !depends(shape(1)[b])) return {};
    return append({mask(inputs_[0], a, number(inputs_[0], 0)), mask(inputs_[1], b, number(inputs_[1], 0))});
  }

  // Elements that are not there come last. NaN counts as the greatest.
  std::optional<Value> ranks() const {
    const auto& how = attributes<SortAttributes>();
    const bool has_nan = is_float(inputs_[0].type.dtype) && !how.descending;
    const Value last =
        has_nan ? number(inputs_[0], std::numeric_limits<double>::quiet_NaN()) : extreme(inputs_[0], how.descending);
    return masked(0, {how.dimension}, last);
  }

  // Elements that are there must stay in front of the others: dimensions around those that depend on data may change.
  void expect_order() const {
    const Shape &from = shape(0), &to = attributes<ReshapeAttributes>().shape;
    const auto parts = [&](const Shape& all) {
      std::vector<Size> known = {1}, data;
      for (const Size& one : all) {
        if (depends(one)) {
          data.push_back(one);
          known.emplace_back(1);
        } else {
          known.back() = known.back() * one;
        }
      }
      return std::pair(known, data);
    };
    const auto [known, data] = parts(from);
    const auto [other_known, other_data] = parts(to);
    const bool is_same = known == other_known && data == other_data;
    const bool is_front = data.size() == 1 && other_data.size() == 1 && known[0] == 1 && other_known[0] == 1;
    if (!is_same && !is_front) refuse("dimensions that stay in front of the one that depends on data", from);
  }

  // Takes elements at computed places of one dimension.
  Value taken(const Value& x, std::size_t d, const Value& index) const {
    return add(Operator::gather, {x, clamped(index, x.type.shape[d])}, DimensionAttributes{d});
  }

  // Returns a size of which a bound is known: a new one for that of a part whose own has none.
  Size bounded(const Size& part, const Size& whole) const {
    try {
      builder_.bound_of(part);
      return part;
    } catch (const CompileError&) {
      return builder_.add_data_size(name_, size(part), builder_.bound_of(whole));
    }
  }

  std::optional<Value> slice() const {
    SliceAttributes rest = attributes<SliceAttributes>();
    Value x = inputs_[0];
    bool is_changed = false;
    for (std::size_t d = 0; d < rest.shape.size(); ++d) {
      const bool is_known = !depends(x.type.shape[d]) && !depends(rest.begin[d]) && !depends(rest.shape[d]);
      if (is_known || (rest.begin[d].constant() == 0 && rest.stride[d] == 1)) continue;
      rest.shape[d] = bounded(rest.shape[d], x.type.shape[d]);
      const Value at = add(Operator::mul, {places(rest.shape[d], 0, 1), size(rest.stride[d])});
      x = taken(x, d, add(Operator::add, {at, size(rest.begin[d])}));
      rest.begin[d] = 0, rest.stride[d] = 1;
      is_changed = true;
    }
    if (!is_changed) return {};
    return x.type.shape == rest.shape ? x : add(Operator::slice, {x}, rest);
  }

  std::optional<Value> pad() const {
    PadAttributes rest = attributes<PadAttributes>();
    Value x = inputs_[0];
    const std::size_t rank = x.type.shape.size();
    const Value filling =
        is_float(x.type.dtype) ? number(x, rest.value) : constant({x.type.dtype, {}}, Known{{rest.integer}});
    bool is_changed = false;
    for (std::size_t d = 0; d < rank; ++d) {
      const Size count = x.type.shape[d];
      if (!depends(count) && !depends(rest.before[d]) && !depends(rest.after[d])) continue;
      const Value at = add(Operator::sub, {places(rest.before[d] + count + rest.after[d], 0, 1), size(rest.before[d])});
      Shape aligned(rank, 1);
      aligned[d] = at.type.shape[0];
      const Value aligned_at = add(Operator::reshape, {at}, ReshapeAttributes{aligned});
      const Value is_there = add(Operator::logical_and, {add(Operator::less_equal, {size(0), aligned_at}),
                                                         add(Operator::less, {aligned_at, size(count)})});
      x = add(Operator::where, {is_there, taken(x, d, at), filling});
      rest.before[d] = rest.after[d] = 0;
      is_changed = true;
    }
    if (!is_changed) return {};
    const auto is_none = [](const Size& one) { return one.constant() == 0; };
    const bool is_done = std::ranges::all_of(rest.before, is_none) && std::ranges::all_of(rest.after, is_none);
    return is_done ? x : add(Operator::pad, {x}, rest);
  }

  // Joins two at a time: the second begins where the first ends.
  std::optional<Value> concat() const {
    const std::size_t d = dimension();
    if (std::ranges::none_of(inputs_, [&](const Value& input) { return depends(input.type.shape[d]); })) return {};
    std::optional<Value> all;
    for (const Value& next : inputs_) {
      if (next.type.shape[d].constant() == 0) continue;
      all = all ? joined(*all, next, d) : next;
    }
    return all;
  }
  Value joined(const Value& first, const Value& second, std::size_t d) const {
    const Size begin = first.type.shape[d], count = begin + second.type.shape[d];
    const Value at = places(count, 0, 1),
                is_first = add(Operator::less, {places(count, d, first.type.shape.size()), size(begin)});
    return add(Operator::where,
               {is_first, taken(first, d, at), taken(second, d, add(Operator::sub, {at, size(begin)}))});
  }

  // Returns indices, with others behind their counts, that count from the front of a dimension.
  Value indices(const Size& count, const Value& other) const {
    Value index = inputs_[1];
    if (depends(count)) {
      const Value zero = number(index, 0), whole = add(Operator::cast, {size(count)}, CastAttributes{index.type.dtype});
      index = add(Operator::where, {add(Operator::less, {index, zero}), add(Operator::add, {index, whole}), index});
    }
    for (std::size_t d = 0; d < shape(1).size(); ++d) index = mask(index, d, other);
    return index;
  }
  bool has_data_indices(const Size& count) const { return depends(count) || builder_.depends_on_data(shape(1)); }

  std::optional<Value> gather() const {
    const Size& count = shape(0)[dimension()];
    if (!has_data_indices(count)) return {};
    return append({inputs_[0], indices(count, number(inputs_[1], 0))});
  }

  std::optional<Value> scatter() const {
    const Size& count = shape(0)[attributes<ScatterAttributes>().dimension];
    if (!has_data_indices(count)) return {};
    if (inputs_[1].type.dtype != DType::i64) refuse("indices of int64", shape(1));
    return append({inputs_[0], indices(count, constant({DType::i64, {}}, Known{{static_cast<std::int64_t>(kNoIndex)}})),
                   inputs_[2]});
  }

  GraphBuilder& builder_;
  const std::string& name_;
  const Operator op_;
  const std::vector<Value>& inputs_;
  const Attributes& attributes_;
};

}  // namespace

std::optional<Value> add_masked(GraphBuilder& builder, const std::string& name, Operator op,
                                const std::vector<Value>& inputs, const Attributes& attributes) {
  return Masking(builder, name, op, inputs, attributes).run();
}

}  // namespace ferry::graph::onnx
