// Operators whose results are as long as data say.
#include "host/graph/onnx/operators/selection.h"

#include <algorithm>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

// Returns the contents of a vector of bool that is known when the network is imported.
std::optional<std::vector<bool>> known_truths(const Value& value) {
  std::vector<bool> truths;
  if (value.constant != nullptr) {
    for (const std::uint8_t byte : value.constant->bytes) truths.push_back(byte != 0);
    return truths;
  }
  if (value.known == nullptr) return std::nullopt;
  for (const Size& one : value.known->integers) {
    if (!one.constant()) return std::nullopt;
    truths.push_back(*one.constant() != 0);
  }
  return truths;
}

}  // namespace

Value selected_places(const NodeImport& node, const Value& is_selected) {
  const NodeOps of(node);
  const Size& whole = is_selected.type.shape[0];
  if (const std::optional<std::vector<bool>> truths = known_truths(is_selected)) {
    std::vector<Size> places;
    for (std::size_t i = 0; i < truths->size(); ++i)
      if ((*truths)[i]) places.emplace_back(static_cast<std::int64_t>(i));
    return node.known(DType::i64, std::move(places));
  }
  const Value ones = node.cast(is_selected, DType::i64);
  const Value rank = node.add(Operator::cumulative_sum, {ones}, CumulativeAttributes{0, true, false});
  const Value to = of.where(is_selected, rank, of.number(rank, kNoIndex));
  const Value places = of.scatter(of.filled({DType::i64, {whole}}, 0), to, of.iota(whole), {0, ScatterMode::replace});
  const Value count = of.reduce(Operator::reduce_sum, ones, {0}, false);
  return node.with_data_size(places, 0, node.data_size(count, whole));
}

void import_non_zero(NodeImport& node) {
  const NodeOps of(node);
  const Value& x = node.input(0);
  const Shape& shape = x.type.shape;
  node.expect(!shape.empty(), "a tensor of rank 1 or more", [&] { return to_text(shape); });
  const Value flat = of.reshape(x, {element_count(shape)});
  const bool is_bool = x.type.dtype == DType::boolean;
  const Value places = selected_places(node, is_bool ? flat : of.logical_not(of.equal(flat, 0)));
  const Size& count = places.type.shape[0];
  std::vector<Value> rows(shape.size());
  Size inner = 1;
  for (std::size_t d = shape.size(); d-- > 0; inner = inner * shape[d]) {
    Value index = inner.constant() == 1 ? places : of.div(places, of.size(inner));
    if (d > 0) index = of.modulo(index, of.size(shape[d]));
    rows[d] = of.reshape(index, {1, count});
  }
  node.output(0, rows.size() == 1 ? rows[0] : of.concat(rows, 0));
}

void import_compress(NodeImport& node) {
  const NodeOps of(node);
  const bool is_flat = !node.has("axis");
  const Value x = is_flat ? of.reshape(node.input(0), {element_count(node.shape(0))}) : node.input(0);
  const std::size_t d = is_flat ? 0 : node.dimension(node.integer("axis"), x.type.shape.size());
  node.ignore({"axis"});
  const Value& condition = node.input(1);
  node.expect(condition.type.dtype == DType::boolean && condition.type.shape.size() == 1, "a vector of bool",
              [&] { return to_text(condition.type); });
  const Size &count = condition.type.shape[0], &whole = x.type.shape[d];
  node.expect(!proves_less(whole, count), "a condition no longer than the dimension",
              [&] { return to_text(count) + " for " + to_text(whole); });
  if (!proves_less(count, whole + 1))
    node.equal("the condition's size", count, "one that the dimension has room for", min(count, whole));
  node.output(0, of.gather(x, selected_places(node, condition), d));
}

namespace {

// Returns the number of elements of an entry of a dimension.
Size entry_elements(const Shape& shape, std::size_t dimension) {
  Size count = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) count = d == dimension ? count : count * shape[d];
  return count;
}

// The order of elements, or of entries of a dimension: the place of each if they were sorted, and whether each in
// sorted order begins a group of equal ones.
struct Order {
  Value rank, begins;
};

// Returns values of entries in sorted order.
Value in_order(const NodeImport& node, const Value& rank, const Value& values) {
  const NodeOps of(node);
  const Value empty = of.filled({values.type.dtype, rank.type.shape}, 0);
  return of.scatter(empty, rank, values, {0, ScatterMode::replace});
}

Order order_of_elements(const NodeImport& node, const Value& flat) {
  const NodeOps of(node);
  const Value at = of.iota(flat.type.shape[0]);
  const Value rank = node.add(Operator::sort_rank, {flat}, SortAttributes{0, false});
  const Value line = in_order(node, rank, flat);
  const Value before = of.gather(line, of.maximum(of.sub(at, 1), 0), 0);
  return {rank, of.logical_or(of.equal(at, 0), of.logical_not(of.equal(line, before)))};
}

// Entries are compared by their first different element, each with all others.
Order order_of_rows(const NodeImport& node, const Value& rows) {
  const NodeOps of(node);
  const Size &count = rows.type.shape[0], &width = rows.type.shape[1];
  const Value one = of.reshape(rows, {count, 1, width}), other = of.reshape(rows, {1, count, width});
  const Value same = node.cast(of.equal(one, other), DType::i32);
  const Value same_before = node.add(Operator::cumulative_prod, {same}, CumulativeAttributes{2, true, false});
  const Value is_less = node.cast(of.logical_and(of.less(one, other), of.equal(same_before, 1)), DType::i32);
  const auto any = [&](Operator op, const Value& x) { return of.less(0, of.reduce(op, x, {2}, false)); };
  const Value less = any(Operator::reduce_max, is_less), equal = any(Operator::reduce_min, same);
  const Value at = of.iota(count), first = of.less(of.reshape(at, {count, 1}), of.reshape(at, {1, count}));
  const Value precedes = of.logical_or(less, of.logical_and(equal, first));
  const Value rank = of.reduce(Operator::reduce_sum, node.cast(precedes, DType::i64), {0}, false);
  const Value order = in_order(node, rank, at);
  const Value before = of.gather(order, of.maximum(of.sub(at, 1), 0), 0);
  const Value pair = of.add(of.mul(order, of.size(count)), before);
  const Value is_same = of.gather(of.reshape(equal, {count * count}), pair, 0);
  return {rank, of.logical_or(of.equal(at, 0), of.logical_not(is_same))};
}

}  // namespace

// Equal elements are next to each other once they are sorted. The order keeps that of equal ones, so each group begins
// with its first element.
void import_unique(NodeImport& node) {
  const NodeOps of(node);
  const bool is_sorted = node.flag("sorted", true);
  const Value& x = node.input(0);
  const bool has_axis = node.has("axis") && x.type.shape.size() > 1;
  const std::size_t d = node.has("axis") ? node.dimension(node.integer("axis"), x.type.shape.size()) : 0;
  node.ignore({"axis"});
  const Size count = has_axis ? x.type.shape[d] : element_count(x.type.shape);
  const Value flat = has_axis ? x : of.reshape(x, {count});
  std::vector<std::size_t> order = dimensions_from(0, flat.type.shape.size());
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(d),
              order.begin() + static_cast<std::ptrdiff_t>(d) + 1);
  const auto [rank, begins] =
      has_axis ? order_of_rows(node, of.reshape(of.transpose(x, order), {count, entry_elements(x.type.shape, d)}))
               : order_of_elements(node, flat);
  const Value group_at =
      of.sub(node.add(Operator::cumulative_sum, {node.cast(begins, DType::i64)}, CumulativeAttributes{}), 1);
  Value group = of.gather(group_at, rank, 0),
        first = of.gather(in_order(node, rank, of.iota(count)), selected_places(node, begins), 0);
  const Size found = first.type.shape[0];
  const Value all_counts = of.scatter(of.filled({DType::i64, {count}}, 0), group, of.filled({DType::i64, {count}}, 1),
                                      {0, ScatterMode::add});
  Value counts = of.slice(all_counts, 0, 0, found);
  if (!is_sorted) {
    // Groups in the order of their first elements.
    const Value place = node.add(Operator::sort_rank, {first}, SortAttributes{0, false});
    const Value groups =
        of.scatter(of.filled({DType::i64, {found}}, 0), place, of.iota(found), {0, ScatterMode::replace});
    first = of.gather(first, groups, 0);
    counts = of.gather(counts, groups, 0);
    group = of.gather(place, group, 0);
  }
  node.output(0, of.gather(flat, first, d));
  node.output(1, first);
  node.output(2, group);
  node.output(3, counts);
}

}  // namespace ferry::graph::onnx
