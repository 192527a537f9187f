// ArgMax, TopK, Hardmax, and cumulative sums and products.
#include "ferry/ops/sorting.h"
#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

Value reversed(const NodeOps& of, const Value& x, std::size_t d) {
  return of.slice(x, d, x.type.shape[d] - 1, x.type.shape[d], -1);
}

// Returns the indices of the first elements along dimension d, of which top_k sees a matrix with a line in each row.
Value first_indices(const NodeImport& node, std::size_t d, const TopKAttributes& top) {
  const NodeOps of(node);
  const Value& x = node.input(0);
  const std::size_t rank = x.type.shape.size();
  std::vector<std::size_t> order = dimensions_from(0, rank);
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(d));
  order.push_back(d);
  std::vector<std::size_t> back(rank);
  for (std::size_t i = 0; i < rank; ++i) back[order[i]] = i;
  const Value lines = of.transpose(x, order);
  Shape shape = lines.type.shape;
  const Shape others(shape.begin(), shape.end() - 1);
  const Value found =
      node.add(Operator::top_k, {rank > 2 ? of.reshape(lines, {element_count(others), shape.back()}) : lines}, top);
  shape.back() = top.count;
  return of.transpose(of.reshape(found, shape), back);
}

// Writes the index of each element to the place that it would have if the line were sorted.
Value indices_by_rank(const NodeImport& node, std::size_t d, const Size& count, bool largest) {
  const NodeOps of(node);
  const Value& x = node.input(0);
  const Value rank = node.add(Operator::sort_rank, {x}, SortAttributes{d, largest});
  Shape shape = x.type.shape;
  shape[d] = count;
  const Value own = of.iota(x.type.shape[d], d, shape.size());
  return of.scatter(of.filled({DType::i64, shape}, 0), rank, own, {d, ScatterMode::replace});
}

// Returns how many elements are taken of a dimension. A number that is computed takes no more than there are.
Size number_taken(NodeImport& node, const Size& whole) {
  if (node.opset() < 10) return node.integer("k");
  const Value& count = node.input(1);
  if (count.known == nullptr && element_count(count.type.shape).constant() == 1 && count.type.dtype == DType::i64) {
    const NodeOps of(node);
    const Value taken = of.minimum(of.maximum(of.reshape(count, {}), 0), of.size(whole));
    return node.data_size(taken, node.bound_of(whole));
  }
  const std::vector<Size> counts = node.sizes(1, "the number of elements");
  node.expect(counts.size() == 1, "one number of elements", [&] { return to_text(counts); });
  return counts[0];
}

}  // namespace

void import_arg_max(NodeImport& node) {
  const NodeOps of(node);
  const Value& x = node.input(0);
  const std::size_t d = node.dimension(node.integer("axis", 0), x.type.shape.size());
  const bool keep = node.flag("keepdims", true), is_last = node.opset() >= 12 && node.flag("select_last_index", false);
  const Operator op = node.op() == "ArgMax" ? Operator::arg_max : Operator::arg_min;
  const Value found = of.reduce(op, is_last ? reversed(of, x, d) : x, {d}, keep);
  node.output(0, is_last ? of.sub(of.size(x.type.shape[d] - 1), found) : found);
}

void import_top_k(NodeImport& node) {
  const NodeOps of(node);
  const Value& x = node.input(0);
  const std::size_t d = node.dimension(node.integer("axis", -1), x.type.shape.size());
  const Size count = number_taken(node, x.type.shape[d]);
  const bool largest = node.opset() < 11 || node.flag("largest", true);
  node.ignore({"sorted"});  // sorted is one of the orders that are allowed otherwise
  node.expect(!proves_less(count, 0) && !proves_less(x.type.shape[d], count),
              "a number of elements, at most that of the dimension", [&] { return to_text(count); });
  const auto size = x.type.shape[d].constant(), first = count.constant();
  const bool is_known = size && first && *first > 0 && *size <= ops::kMaxSortedSize;
  const Value indices = is_known ? first_indices(node, d, {*first, largest}) : indices_by_rank(node, d, count, largest);
  node.output(0, of.gather_elements(x, indices, d));
  node.output(1, indices);
}

void import_hardmax(NodeImport& node) {
  const NodeOps of(node);
  const Value& x = node.input(0);
  const std::size_t rank = x.type.shape.size();
  std::size_t d = node.dimension(node.integer("axis", node.opset() < 13 ? 1 : -1), rank);
  Value value = x;
  if (node.opset() < 13) {
    // Before opset 13 all dimensions from the axis on are one.
    const auto at = x.type.shape.begin() + static_cast<std::ptrdiff_t>(d);
    value =
        of.reshape(x, {element_count(Shape(x.type.shape.begin(), at)), element_count(Shape(at, x.type.shape.end()))});
    d = 1;
  }
  const Shape& shape = value.type.shape;
  const Value greatest = of.reduce(Operator::arg_max, value, {d});
  const Value result = node.cast(of.equal(of.iota(shape[d], d, shape.size()), greatest), x.type.dtype);
  node.output(0, of.reshape(result, x.type.shape));
}

void import_cumulative(NodeImport& node) {
  const bool exclusive = node.flag("exclusive", false), backwards = node.flag("reverse", false);
  const Value& x = node.input(0);
  const std::size_t d = node.dimension(node.number(1, "the axis"), x.type.shape.size());
  const Operator op = node.op() == "CumSum" ? Operator::cumulative_sum : Operator::cumulative_prod;
  node.output(0, node.add(op, {x}, CumulativeAttributes{d, exclusive, backwards}));
}

}  // namespace ferry::graph::onnx
