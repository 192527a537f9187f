// Operators whose results are as long as data say.
#include "host/graph/onnx/operators/selection.h"

#include <algorithm>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

// An index that is out of bounds for any tensor.
constexpr double kNoIndex = -0x1p60;

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

// Equal elements are next to each other once they are sorted. The sort keeps their order, so each group begins with its
// first element.
void import_unique(NodeImport& node) {
  const NodeOps of(node);
  const bool is_sorted = node.flag("sorted", true);
  const Value& x = node.input(0);
  node.expect(!node.has("axis") || x.type.shape.size() == 1, "no axis, or a vector", [&] { return to_text(x.type); });
  node.ignore({"axis"});
  const Size count = element_count(x.type.shape);
  const Value flat = of.reshape(x, {count}), at = of.iota(count);
  const Value rank = node.add(Operator::sort_rank, {flat}, SortAttributes{0, false});
  const auto sorted = [&](const Value& values) {
    return of.scatter(of.filled({values.type.dtype, {count}}, 0), rank, values, {0, ScatterMode::replace});
  };
  const Value line = sorted(flat), order = sorted(at);
  const Value before = of.gather(line, of.maximum(of.sub(at, 1), 0), 0);
  const Value begins = of.logical_or(of.equal(at, 0), of.logical_not(of.equal(line, before)));
  const Value group_at =
      of.sub(node.add(Operator::cumulative_sum, {node.cast(begins, DType::i64)}, CumulativeAttributes{}), 1);
  Value group = of.gather(group_at, rank, 0), first = of.gather(order, selected_places(node, begins), 0);
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
  node.output(0, of.gather(flat, first, 0));
  node.output(1, first);
  node.output(2, group);
  node.output(3, counts);
}

}  // namespace ferry::graph::onnx
