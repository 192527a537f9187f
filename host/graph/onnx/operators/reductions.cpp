// Reductions over chosen dimensions.
#include <algorithm>

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

// max + log(sum(exp(x - max))), which does not overflow
Value log_sum_exp(const NodeImport& node, const Value& x, const ReduceAttributes& reduce) {
  const ReduceAttributes kept = {reduce.dimensions, true};
  const Value greatest = node.add(Operator::reduce_max, {x}, kept);
  const Value powers = node.add(Operator::exp, {node.add(Operator::sub, {x, greatest})});
  const Value rest = node.add(Operator::log, {node.add(Operator::reduce_sum, {powers}, kept)});
  const Value sum = node.add(Operator::add, {greatest, rest});
  Shape shape;
  for (std::size_t d = 0; d < x.type.shape.size(); ++d) {
    const bool reduced = std::binary_search(reduce.dimensions.begin(), reduce.dimensions.end(), d);
    if (!reduced || reduce.keep) shape.push_back(reduced ? Size(1) : x.type.shape[d]);
  }
  return node.reshape(sum, shape);
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
  if (node.op() == "ReduceLogSumExp") return node.output(0, nothing ? value : log_sum_exp(node, value, reduce));
  if (row->before == Operator::mul) value = node.add(Operator::mul, {value, value});
  if (row->before == Operator::abs) value = node.add(Operator::abs, {value});
  // The extremes of bools are whether any or all of them hold.
  const bool is_bool = value.type.dtype == DType::boolean;
  if (is_bool) value = node.cast(value, DType::u8);
  if (!reduce.dimensions.empty()) value = node.add(row->reduce, {value}, reduce);
  if (is_bool) value = node.cast(value, DType::boolean);
  if (row->after) value = node.add(*row->after, {value});
  node.output(0, value);
}

}  // namespace ferry::graph::onnx
