// Operators that give the same elements another shape or order.
#include <algorithm>

#include "host/graph/onnx/few_bits.h"
#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

// Axes are an input since opset 13, and an attribute before.
std::vector<std::int64_t> axes_of(NodeImport& node) {
  if (node.opset() < 13) return node.integers("axes", std::vector<std::int64_t>());
  return node.has_input(1) ? node.numbers(1, "the axes") : std::vector<std::int64_t>();
}

std::vector<bool> marked_axes(const NodeImport& node, const std::vector<std::int64_t>& axes, std::size_t rank) {
  std::vector<bool> marked(rank);
  for (const std::int64_t axis : axes) {
    const std::size_t d = node.dimension(axis, rank);
    node.expect(!marked[d], "different axes", [&] { return "the axis " + std::to_string(axis) + " twice"; });
    marked[d] = true;
  }
  return marked;
}

// Returns the dimensions of size 1. Whether an open size is 1 differs from call to call, but the rank does not: it is
// the one that the model declares, with which none of the open sizes is 1, or all are.
std::vector<bool> dimensions_of_size_1(const NodeImport& node, const Shape& x) {
  std::vector<bool> chosen, all;
  std::string undecided;
  for (const Size& size : x) {
    chosen.push_back(size.constant() == 1);
    all.push_back(chosen.back() || !(size.constant() || proves_different(size, 1)));
    if (!all.back() || chosen.back()) continue;
    for (const std::string& symbol : size.symbols()) undecided += " --fix " + symbol + "=SIZE";
  }
  const auto rank_without = [&](const std::vector<bool>& removed) {
    return x.size() - static_cast<std::size_t>(std::ranges::count(removed, true));
  };
  const std::size_t kept = rank_without(chosen);
  if (!undecided.empty() && node.declared_rank(0) == rank_without(all)) return all;
  if (!undecided.empty() && node.declared_rank(0) != kept) {
    node.refuse("axes, or sizes that are known when the network is imported, because a size of 1 is removed",
                to_text(x) + "; fix the open ones:" + undecided);
  }
  return chosen;
}

// Takes the only entry of a dimension. A call that leaves the branch out may have more there, so this is checked as an
// index is: 0 if there is one entry.
Value entry_of_one(const NodeImport& node, const Value& x, std::size_t d) {
  const NodeOps of(node);
  const Size& size = x.type.shape[d];
  const Value index = of.reshape(of.size(max(size - 1, 1 - size)), {1});
  return of.gather(of.slice(x, d, 0, 1), index, d);
}

}  // namespace

void import_expand(NodeImport& node) {
  const Value& x = node.input(0);
  const std::vector<Size> wanted = node.sizes(1, "the shape");
  const Shape shape = node.broadcast_shape(x.type.shape, wanted);
  node.output(0, x.type.shape == shape ? x : node.add(Operator::broadcast, {x}, BroadcastAttributes{shape}));
}

void import_flatten(NodeImport& node) {
  const Shape& x = node.shape(0);
  const std::int64_t axis = node.integer("axis", 1);
  const std::size_t first = axis == static_cast<std::int64_t>(x.size()) ? x.size() : node.dimension(axis, x.size());
  const auto at = x.begin() + static_cast<std::ptrdiff_t>(first);
  const Shape shape = {element_count(Shape(x.begin(), at)), element_count(Shape(at, x.end()))};
  node.output(0, node.reshape(node.input(0), shape));
}

void import_identity(NodeImport& node) { node.output(0, node.input(0)); }

// 0 repeats the input's size, and -1 is whatever is left.
void import_reshape(NodeImport& node) {
  const Shape& x = node.shape(0);
  const bool zero_is_size = node.opset() >= 14 && node.flag("allowzero", false);
  Shape shape;
  std::optional<std::size_t> open;
  const std::vector<Size> wanted = node.sizes(1, "the shape");
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    const std::optional<std::int64_t> number = wanted[d].constant();
    node.expect(!number || *number >= -1, "sizes of -1 or more", [&] { return to_text(wanted); });
    const bool repeats = number == 0 && !zero_is_size;
    node.expect(!repeats || d < x.size(), "a 0 only where the input has a dimension",
                [&] { return to_text(wanted) + " for " + to_text(x); });
    node.expect(number != -1 || !open, "one -1 at most", [&] { return to_text(wanted); });
    if (number == -1) open = d;
    shape.push_back(number == -1 ? Size(1) : repeats ? x[d] : wanted[d]);
  }
  if (open) {
    const Size count = element_count(x), others = element_count(shape);
    const std::optional<Size> rest = divide_exactly(count, others);
    const bool may_fill = rest || (others.constant() != 0 && !(count.constant() && others.constant()));
    node.expect(may_fill, "a shape that the elements of " + to_text(x) + " fill", [&] { return to_text(wanted); });
    shape[*open] = rest ? *rest : floor_divide(count, others);
  }
  node.output(0, node.reshape(node.input(0), shape));
}

void import_squeeze(NodeImport& node) {
  const Shape& x = node.shape(0);
  const std::vector<std::int64_t> axes = axes_of(node);
  const std::vector<bool> chosen = axes.empty() ? dimensions_of_size_1(node, x) : marked_axes(node, axes, x.size());
  Value kept = node.input(0);
  Shape shape;
  for (std::size_t d = 0; d < x.size(); ++d) {
    if (!chosen[d]) {
      shape.push_back(x[d]);
    } else if (x[d].constant() || !node.is_in_branch()) {
      node.equal("a dimension", x[d], "the size of what is removed", 1);
    } else {
      kept = entry_of_one(node, kept, d);
    }
  }
  node.output(0, node.reshape(kept, shape));
}

void import_unsqueeze(NodeImport& node) {
  const Shape& x = node.shape(0);
  const std::vector<std::int64_t> axes = axes_of(node);
  const std::vector<bool> added = marked_axes(node, axes, x.size() + axes.size());
  Shape shape;
  auto next = x.begin();
  for (const bool is_new : added) shape.push_back(is_new ? Size(1) : *next++);
  node.output(0, node.reshape(node.input(0), shape));
}

void import_transpose(NodeImport& node) {
  const std::size_t rank = node.shape(0).size();
  std::vector<std::int64_t> reversed;
  for (std::size_t d = rank; d-- > 0;) reversed.push_back(static_cast<std::int64_t>(d));
  TransposeAttributes transpose;
  for (const std::int64_t axis : node.integers("perm", reversed)) transpose.order.push_back(node.dimension(axis, rank));
  node.expect(transpose.order.size() == rank, "perm to have " + std::to_string(rank) + " axes",
              [&] { return std::to_string(transpose.order.size()); });
  const bool keeps = std::is_sorted(transpose.order.begin(), transpose.order.end());
  if (keeps) return node.output(0, node.input(0));
  Value result = node.add(Operator::transpose, {node.input(0)}, transpose);
  if (const auto& stored = node.input(0).stored) {
    StoredMatrix matrix = *stored;
    matrix.is_transposed = !matrix.is_transposed;
    result.stored = std::make_shared<const StoredMatrix>(std::move(matrix));
  }
  node.output(0, result);
}

}  // namespace ferry::graph::onnx
