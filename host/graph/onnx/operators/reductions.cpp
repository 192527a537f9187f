// Reductions over chosen dimensions.
#include <algorithm>
#include <limits>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

// The reduction, and what is computed with each element before it and with the result after it.
struct Reduction {
  const char* op;
  Operator reduce;
  std::optional<Operator> before, after;
};
constexpr Reduction kReductions[] = {
    {"ReduceSum", Operator::reduce_sum, {}, {}},
    {"ReduceMean", Operator::reduce_mean, {}, {}},
    {"ReduceMax", Operator::reduce_max, {}, {}},
    {"ReduceMin", Operator::reduce_min, {}, {}},
    {"ReduceProd", Operator::reduce_prod, {}, {}},
    {"ReduceL1", Operator::reduce_sum, Operator::abs, {}},
    {"ReduceL2", Operator::reduce_sum, Operator::mul, Operator::sqrt},
    {"ReduceSumSquare", Operator::reduce_sum, Operator::mul, {}},
    {"ReduceLogSumExp", Operator::reduce_sum, Operator::exp, Operator::log},
    {"ReduceLogSum", Operator::reduce_sum, {}, Operator::log},
};

// Axes are an input since opset 18, for ReduceSum since opset 13.
std::vector<std::int64_t> read_axes(NodeImport& node) {
  const std::int64_t since = node.op() == "ReduceSum" ? 13 : 18;
  if (node.opset() < since) return node.integers("axes", std::vector<std::int64_t>());
  return node.has_input(1) ? node.numbers(1, "the axes") : std::vector<std::int64_t>();
}

// m + log(sum(exp(x - m))) for the maximum m, which does not overflow. An infinite maximum is not subtracted, because
// the difference of two infinities is NaN.
Value log_sum_exp(const NodeImport& node, const Value& x, const ReduceAttributes& reduce) {
  const NodeOps of(node);
  const Value greatest = of.reduce(Operator::reduce_max, x, reduce.dimensions);
  const Value is_infinite = of.equal(of.abs(greatest), std::numeric_limits<double>::infinity());
  const Value moved = of.where(is_infinite, of.number(x, 0), greatest);
  const Value rest = of.log(of.reduce(Operator::reduce_sum, of.exp(of.sub(x, moved)), reduce.dimensions));
  const Value sum = of.add(moved, rest);
  Shape shape;
  for (std::size_t d = 0; d < x.type.shape.size(); ++d) {
    const bool reduced = std::binary_search(reduce.dimensions.begin(), reduce.dimensions.end(), d);
    if (!reduced || reduce.keep) shape.push_back(reduced ? Size(1) : x.type.shape[d]);
  }
  return node.reshape(sum, shape);
}

// The mean of integers rounds towards zero. The total of 32-bit elements does not overflow in 64 bits.
Value integer_mean(const NodeImport& node, const Value& x, const ReduceAttributes& reduce) {
  const NodeOps of(node);
  Size count = 1;
  for (const std::size_t d : reduce.dimensions) count = count * x.type.shape[d];
  node.expect(proves_less(0, count), "elements to reduce", [&] { return to_text(x.type); });
  const DType wide = is_unsigned_int(x.type.dtype) ? DType::u64 : DType::i64;
  const auto total = [&](const Value& value) {
    return of.reduce(Operator::reduce_sum, value, reduce.dimensions, reduce.keep);
  };
  // A number of elements that depends on open sizes is counted when the network runs.
  const Value divisor = count.constant() ? of.cast(of.size(count), wide) : total(of.filled({wide, x.type.shape}, 1));
  return of.cast(of.div(total(of.cast(x, wide)), divisor), x.type.dtype);
}

}  // namespace

void import_reduce(NodeImport& node) {
  const auto* row = std::find_if(std::begin(kReductions), std::end(kReductions),
                                 [&](const Reduction& reduction) { return node.op() == reduction.op; });
  ReduceAttributes reduce = {{}, node.flag("keepdims", true)};
  const std::size_t rank = node.shape(0).size();
  const std::vector<std::int64_t> axes = read_axes(node);
  const bool nothing = axes.empty() && node.flag("noop_with_empty_axes", false);
  node.ignore({"noop_with_empty_axes"});
  for (const std::int64_t axis : axes) reduce.dimensions.push_back(node.dimension(axis, rank));
  for (std::size_t d = 0; axes.empty() && !nothing && d < rank; ++d) reduce.dimensions.push_back(d);
  std::sort(reduce.dimensions.begin(), reduce.dimensions.end());
  node.expect(std::adjacent_find(reduce.dimensions.begin(), reduce.dimensions.end()) == reduce.dimensions.end(),
              "different axes", [] { return "one of them twice"; });
  Value value = node.input(0);
  const DType dtype = value.type.dtype;
  // Roots and logarithms of integers are computed as doubles, and rounded towards zero.
  if (row->after && !is_float(dtype)) value = node.cast(value, DType::f64);
  if (node.op() == "ReduceLogSumExp") {
    return node.output(0, nothing ? node.input(0) : node.cast(log_sum_exp(node, value, reduce), dtype));
  }
  if (row->before == Operator::mul) value = node.add(Operator::mul, {value, value});
  if (row->before == Operator::abs) value = node.add(Operator::abs, {value});
  // The extremes of bools are whether any or all of them hold.
  const bool is_bool = value.type.dtype == DType::boolean;
  if (is_bool) value = node.cast(value, DType::u8);
  if (row->reduce == Operator::reduce_mean && !is_float(value.type.dtype) && !reduce.dimensions.empty()) {
    value = integer_mean(node, value, reduce);
  } else if (!reduce.dimensions.empty()) {
    value = node.add(row->reduce, {value}, reduce);
  }
  if (is_bool) value = node.cast(value, DType::boolean);
  if (row->after) value = node.cast(node.add(*row->after, {value}), dtype);
  node.output(0, value);
}

}  // namespace ferry::graph::onnx
