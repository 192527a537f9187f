// Operators that move blocks of elements.
#include <algorithm>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

// A larger mask is computed when the network runs.
constexpr std::int64_t kMaxMask = kMaxKnown;

struct Image {
  Size n, c, h, w;
};
Image read_image(const NodeImport& node) {
  const Shape& x = node.shape(0);
  node.expect(x.size() == 4, "an input of rank 4", [&] { return to_text(x); });
  return {x[0], x[1], x[2], x[3]};
}

std::int64_t read_block(NodeImport& node) {
  const std::int64_t block = node.integer("blocksize");
  node.expect(block > 0 && block < 1 << 16, "a positive blocksize", [&] { return std::to_string(block); });
  return block;
}

// Returns size / by, where that is a whole number. Whether an open size is a multiple may be known only in a call.
Size divided(const NodeImport& node, const std::string& what, const Size& size, std::int64_t by) {
  if (const std::optional<Size> part = divide_exactly(size, by)) return *part;
  node.expect(!size.constant(), "sizes that the blocks divide", [&] { return to_text(size); });
  const Size part = floor_divide(size, by);
  node.equal(what, size, "a multiple of " + std::to_string(by), part * by);
  return part;
}

}  // namespace

void import_depth_to_space(NodeImport& node) {
  const auto [n, c, h, w] = read_image(node);
  const std::int64_t b = read_block(node);
  const std::string mode = node.text("mode", "DCR");
  node.expect(mode == "DCR" || mode == "CRD", "the mode DCR or CRD", [&] { return mode; });
  const Size channels = divided(node, "the channels", c, b * b);
  const bool depth_first = mode == "DCR";
  const Value split =
      node.reshape(node.input(0), depth_first ? Shape{n, b, b, channels, h, w} : Shape{n, channels, b, b, h, w});
  using Order = std::vector<std::size_t>;
  const Value moved = NodeOps(node).transpose(split, depth_first ? Order{0, 3, 4, 1, 5, 2} : Order{0, 1, 4, 2, 5, 3});
  node.output(0, node.reshape(moved, {n, channels, h * b, w * b}));
}

void import_space_to_depth(NodeImport& node) {
  const auto [n, c, h, w] = read_image(node);
  const std::int64_t b = read_block(node);
  const std::string mode = node.text("mode", "DCR");
  node.expect(mode == "DCR" || mode == "CRD", "the mode DCR or CRD", [&] { return mode; });
  const NodeOps of(node);
  const Size rows = divided(node, "the height", h, b), columns = divided(node, "the width", w, b);
  // Nothing is cut off, but the sizes of the blocks show it.
  const Value whole = of.slice(of.slice(node.input(0), 2, 0, rows * b), 3, 0, columns * b);
  const Value split = node.reshape(whole, {n, c, rows, b, columns, b});
  using Order = std::vector<std::size_t>;
  const Value moved = of.transpose(split, mode == "DCR" ? Order{0, 3, 5, 1, 2, 4} : Order{0, 1, 3, 5, 2, 4});
  node.output(0, node.reshape(moved, {n, c * (b * b), rows, columns}));
}

void import_tile(NodeImport& node) {
  const Value& x = node.input(0);
  const std::vector<Size> repeats = node.sizes(1, "the repeats");
  node.expect(repeats.size() == x.type.shape.size(), "a number of repeats for each dimension",
              [&] { return to_text(repeats); });
  Shape once, often, result;
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    node.expect(!proves_less(repeats[d], 0), "repeats of 0 or more", [&] { return to_text(repeats); });
    if (repeats[d].constant() != 1) {
      once.push_back(1);
      often.push_back(repeats[d]);
    }
    once.push_back(x.type.shape[d]);
    often.push_back(x.type.shape[d]);
    result.push_back(repeats[d] * x.type.shape[d]);
  }
  if (result == x.type.shape) return node.output(0, x);
  const Value repeated = node.add(Operator::broadcast, {node.reshape(x, once)}, BroadcastAttributes{often});
  node.output(0, node.reshape(repeated, result));
}

// Takes the middle of an image, or puts it into the middle of zeros.
void import_center_crop_pad(NodeImport& node) {
  const NodeOps of(node);
  Value x = node.input(0);
  const std::size_t rank = x.type.shape.size();
  const std::vector<Size> wanted = node.sizes(1, "the shape");
  std::vector<std::size_t> dimensions = dimensions_from(0, rank);
  if (node.has("axes")) {
    dimensions.clear();
    for (const std::int64_t axis : node.integers("axes")) dimensions.push_back(node.dimension(axis, rank));
  }
  node.ignore({"axes"});
  node.expect(wanted.size() == dimensions.size(), "a size for each axis", [&] { return to_text(wanted); });
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const std::size_t d = dimensions[i];
    const Size has = x.type.shape[d], more = wanted[i] - has;
    if (more.constant() == 0) continue;
    node.expect(proves_less(-1, more) || proves_less(more, 0), "sizes that are known to be greater or less",
                [&] { return to_text(wanted[i]) + " for " + to_text(has); });
    if (proves_less(more, 0)) {
      x = of.slice(x, d, floor_divide(has - wanted[i], 2), wanted[i]);
    } else {
      const Size before = floor_divide(more, 2);
      x = of.pad(x, d, before, more - before);
    }
  }
  node.output(0, x);
}

// The upper or the lower triangle of matrices; 0 elsewhere.
void import_trilu(NodeImport& node) {
  const Value& x = node.input(0);
  const Shape& shape = x.type.shape;
  node.expect(shape.size() >= 2, "matrices", [&] { return to_text(shape); });
  const bool upper = node.flag("upper", true);
  const Shape matrix(shape.end() - 2, shape.end());
  const std::optional<std::int64_t> rows = matrix[0].constant(), columns = matrix[1].constant();
  const bool is_known = !node.has_input(1) || node.input(1).known != nullptr;
  if (!is_known || !rows || !columns || *rows > kMaxMask / std::max<std::int64_t>(*columns, 1)) {
    const NodeOps of(node);
    const Value row = of.iota(matrix[0], 0, 2), column = of.iota(matrix[1], 1, 2);
    const auto kept_from = [&](const Value& diagonal, const Value& first) {
      return upper ? of.less_equal(first, diagonal) : of.less_equal(diagonal, first);
    };
    const Value kept = node.has_input(1)
                           ? kept_from(of.sub(column, row), of.reshape(node.cast(node.input(1), DType::i64), {}))
                           : kept_from(column, row);
    return node.output(0, of.where(kept, x, of.number(x, 0)));
  }
  const auto k = node.has_input(1) ? node.number(1, "the diagonal") : 0;
  const auto mask = std::make_shared<std::vector<std::uint8_t>>();
  for (std::int64_t i = 0; i < *rows; ++i) {
    for (std::int64_t j = 0; j < *columns; ++j) mask->push_back((upper ? j - i >= k : j - i <= k) ? 1 : 0);
  }
  const auto data = std::make_shared<ConstantData>(ConstantData{*mask, mask});
  const Value keeps = constant_value("mask", {DType::boolean, {*rows, *columns}, data});
  node.output(0, node.add(Operator::where, {keeps, x, node.constant(x.type.dtype, 0)}));
}

}  // namespace ferry::graph::onnx
