// Operators that take tensors apart and put them together.
#include <algorithm>
#include <limits>
#include <numeric>

#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

// Returns all of a tensor, to be narrowed.
SliceAttributes whole_slice(const Shape& x) { return {Shape(x.size(), 0), std::vector<std::int64_t>(x.size(), 1), x}; }

std::vector<std::int64_t> first_axes(std::size_t count) {
  std::vector<std::int64_t> axes(count);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// Returns a slice's bound between `low` and `high`, counted from the end if it is negative.
Size clamped(const NodeImport& node, const Size& bound, const Size& size, const Size& low, const Size& high) {
  const std::optional<std::int64_t> number = bound.constant();
  if (number && *number == std::numeric_limits<std::int64_t>::min()) return low;
  // Bounds beyond any tensor mean its end.
  if (number && *number > std::int64_t{1} << 60) return high;
  if (number && *number < -(std::int64_t{1} << 60)) return low;
  const bool is_negative = proves_less(bound, 0);
  node.expect(is_negative || proves_less(-1, bound), "bounds of known sign", [&] { return to_text(bound); });
  return max(low, min(is_negative ? size + bound : bound, high));
}

struct SliceBounds {
  std::vector<Size> starts, ends;
  std::vector<std::int64_t> axes, steps;
};

// They are inputs since opset 10.
SliceBounds read_bounds(NodeImport& node) {
  SliceBounds bounds;
  if (node.opset() < 10) {
    for (const std::int64_t start : node.integers("starts")) bounds.starts.emplace_back(start);
    for (const std::int64_t end : node.integers("ends")) bounds.ends.emplace_back(end);
    bounds.axes = node.integers("axes", std::vector<std::int64_t>());
  } else {
    bounds.starts = node.sizes(1, "the starts");
    bounds.ends = node.sizes(2, "the ends");
    if (node.has_input(3)) bounds.axes = node.numbers(3, "the axes");
    if (node.has_input(4)) bounds.steps = node.numbers(4, "the steps");
  }
  const std::size_t count = bounds.starts.size();
  if (bounds.axes.empty()) bounds.axes = first_axes(count);
  if (bounds.steps.empty()) bounds.steps.assign(count, 1);
  node.expect(bounds.ends.size() == count && bounds.axes.size() == count && bounds.steps.size() == count,
              "as many starts, ends, axes and steps", [] { return "other numbers of them"; });
  return bounds;
}

std::vector<Size> split_sizes(NodeImport& node, const Size& whole) {
  if (node.opset() >= 13 && node.has_input(1)) return node.sizes(1, "the parts' sizes");
  if (node.opset() < 13 && node.has("split")) {
    const std::vector<std::int64_t> sizes = node.integers("split");
    return {sizes.begin(), sizes.end()};
  }
  const auto outputs = static_cast<std::int64_t>(node.output_count());
  const std::int64_t count = node.opset() < 18 ? outputs : node.integer("num_outputs");
  node.expect(count == outputs && count > 0, "num_outputs to be the number of outputs",
              [&] { return std::to_string(count) + " and " + std::to_string(outputs); });
  const Size part = floor_divide(whole + (count - 1), count);
  std::vector<Size> sizes(static_cast<std::size_t>(count), part);
  sizes.back() = whole - part * (count - 1);
  return sizes;
}

}  // namespace

void import_concat(NodeImport& node) {
  const std::int64_t axis = node.integer("axis");
  const DimensionAttributes along = {node.dimension(axis, node.shape(0).size())};
  const std::vector<Value> inputs = node.inputs();
  node.output(0, inputs.size() == 1 ? inputs[0] : node.add(Operator::concat, inputs, along));
}

void import_gather(NodeImport& node) {
  const DimensionAttributes along = {node.dimension(node.integer("axis", 0), node.shape(0).size())};
  node.output(0, node.add(Operator::gather, {node.input(0), node.input(1)}, along));
}

namespace {

// A longer dimension is not padded one index at a time.
constexpr std::int64_t kMaxPadded = 1 << 16;

// Returns the element of the input that stands at a position before, in or after it.
std::int64_t padded_index(const std::string& mode, std::int64_t at, std::int64_t size) {
  const auto modulo = [](std::int64_t a, std::int64_t b) { return (a % b + b) % b; };
  if (mode == "edge") return std::clamp<std::int64_t>(at, 0, size - 1);
  if (mode == "wrap") return modulo(at, size);
  const std::int64_t period = std::max<std::int64_t>(2 * (size - 1), 1), place = modulo(at, period);
  return std::min(place, period - place) % size;
}

// Pads with elements of the input itself, in the dimension d.
Value padded_with_itself(const NodeImport& node, const Value& x, const std::string& mode, std::size_t d,
                         const Size& before, const Size& after) {
  const std::optional<std::int64_t> size = x.type.shape[d].constant(), begin = before.constant(),
                                    end = after.constant();
  const auto is_small = [](std::int64_t value) { return value > -kMaxPadded && value < kMaxPadded; };
  const bool fits = size && begin && end && *size > 0 && is_small(*size) && is_small(*begin) && is_small(*end);
  node.expect(fits, "a dimension of known size up to 65536 to pad with its own elements",
              [&] { return to_text(x.type.shape[d]); });
  std::vector<Size> indices;
  for (std::int64_t at = -*begin; at < *size + *end; ++at) indices.emplace_back(padded_index(mode, at, *size));
  return node.add(Operator::gather, {x, node.known(DType::i64, std::move(indices))}, DimensionAttributes{d});
}

}  // namespace

// Negative padding takes elements away.
void import_pad(NodeImport& node) {
  const Value& x = node.input(0);
  const std::size_t rank = x.type.shape.size();
  const std::string mode = node.text("mode", "constant");
  node.expect(mode == "constant" || mode == "reflect" || mode == "edge" || mode == "wrap",
              "the mode constant, reflect, edge or wrap", [&] { return mode; });
  PadAttributes pad = {Shape(rank, 0), Shape(rank, 0)};
  std::vector<Size> pads;
  std::vector<std::int64_t> axes;
  if (node.opset() < 11) {
    for (const std::int64_t size : node.integers("pads")) pads.emplace_back(size);
    pad.value = node.real("value", 0);
  } else {
    pads = node.sizes(1, "the padding");
    if (node.has_input(2) && mode == "constant") pad.value = node.scalar(2, "the value");
    if (node.has_input(3)) axes = node.numbers(3, "the axes");
  }
  if (axes.empty()) axes = first_axes(rank);
  node.expect(pads.size() == 2 * axes.size(), "two sizes of padding for each axis", [&] { return to_text(pads); });
  Value value = x;
  for (std::size_t i = 0; mode != "constant" && i < axes.size(); ++i) {
    if (pads[i].constant() == 0 && pads[i + axes.size()].constant() == 0) continue;
    value = padded_with_itself(node, value, mode, node.dimension(axes[i], rank), pads[i], pads[i + axes.size()]);
  }
  if (mode != "constant") return node.output(0, value);
  SliceAttributes rest = whole_slice(x.type.shape);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t d = node.dimension(axes[i], rank);
    const Size before = pads[i], after = pads[i + axes.size()];
    pad.before[d] = max(before, 0);
    pad.after[d] = max(after, 0);
    rest.begin[d] = max(Size(0) - before, 0);
    rest.shape[d] = x.type.shape[d] - rest.begin[d] - max(Size(0) - after, 0);
  }
  if (!(rest.shape == x.type.shape)) value = node.add(Operator::slice, {value}, rest);
  const Shape nothing(rank, 0);
  if (!(pad.before == nothing) || !(pad.after == nothing)) value = node.add(Operator::pad, {value}, pad);
  node.output(0, value);
}

void import_slice(NodeImport& node) {
  const Shape& x = node.shape(0);
  SliceAttributes slice = whole_slice(x);
  const SliceBounds bounds = read_bounds(node);
  for (std::size_t i = 0; i < bounds.axes.size(); ++i) {
    const std::size_t d = node.dimension(bounds.axes[i], x.size());
    const std::int64_t step = bounds.steps[i];
    node.expect(step != 0 && step > -(std::int64_t{1} << 60), "steps other than 0",
                [&] { return std::to_string(step); });
    slice.stride[d] = step;
    if (step > 0) {
      slice.begin[d] = clamped(node, bounds.starts[i], x[d], 0, x[d]);
      const Size end = clamped(node, bounds.ends[i], x[d], 0, x[d]);
      slice.shape[d] = max(floor_divide(end - slice.begin[d] + (step - 1), step), 0);
    } else {
      slice.begin[d] = clamped(node, bounds.starts[i], x[d], 0, x[d] - 1);
      const Size end = clamped(node, bounds.ends[i], x[d], -1, x[d] - 1);
      slice.shape[d] = max(floor_divide(slice.begin[d] - end + (-step - 1), -step), 0);
    }
  }
  const bool is_whole = slice.shape == x && std::all_of(slice.stride.begin(), slice.stride.end(),
                                                        [](std::int64_t stride) { return stride > 0; });
  node.output(0, is_whole ? node.input(0) : node.add(Operator::slice, {node.input(0)}, slice));
}

void import_split(NodeImport& node) {
  const Value& x = node.input(0);
  const std::size_t d = node.dimension(node.integer("axis", 0), x.type.shape.size());
  const std::vector<Size> sizes = split_sizes(node, x.type.shape[d]);
  node.expect(sizes.size() == node.output_count(), "a size for each output", [&] { return to_text(sizes); });
  Size begin = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    node.expect(!proves_less(sizes[i], 0), "sizes of 0 or more", [&] { return to_text(sizes); });
    SliceAttributes slice = whole_slice(x.type.shape);
    slice.begin[d] = begin;
    slice.shape[d] = sizes[i];
    node.output(i, node.add(Operator::slice, {x}, slice));
    begin = begin + sizes[i];
  }
  node.expect(begin == x.type.shape[d], "sizes that make up " + to_text(x.type.shape[d]),
              [&] { return to_text(sizes); });
}

}  // namespace ferry::graph::onnx
