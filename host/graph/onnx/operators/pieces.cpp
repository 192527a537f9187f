// Operators that take tensors apart and put them together.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>

#include "host/graph/onnx/node_ops.h"
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
Size clamped(const Size& bound, const Size& size, const Size& low, const Size& high) {
  const std::optional<std::int64_t> number = bound.constant();
  if (number && *number == std::numeric_limits<std::int64_t>::min()) return low;
  // Bounds beyond any tensor mean its end.
  if (number && *number > std::int64_t{1} << 60) return high;
  if (number && *number < -(std::int64_t{1} << 60)) return low;
  if (proves_less(-1, bound)) return max(low, min(bound, high));
  if (proves_less(bound, 0)) return max(low, min(size + bound, high));
  const Size is_negative = min(max(Size(0) - bound, 0), 1);  // 1 if it is, otherwise 0
  return max(low, min(bound + size * is_negative, high));
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

namespace {

// Returns the entry of a computed tensor that a known number takes of a dimension of known size; nothing otherwise. As
// a slice, it may stay where it is.
std::optional<std::int64_t> known_entry(const Value& x, const Value& index, std::size_t dimension) {
  const bool is_computed = x.constant == nullptr && x.known == nullptr && x.quotients == nullptr && x.labels == nullptr;
  const std::optional<std::int64_t> size = x.type.shape[dimension].constant();
  if (!is_computed || !size || !index.type.shape.empty() || index.known == nullptr) return std::nullopt;
  const std::optional<std::int64_t> entry = index.known->integers.at(0).constant();
  if (!entry || *entry < -*size || *entry >= *size) return std::nullopt;
  return *entry < 0 ? *entry + *size : *entry;
}

}  // namespace

void import_gather(NodeImport& node) {
  const DimensionAttributes along = {node.dimension(node.integer("axis", 0), node.shape(0).size())};
  if (const auto entry = known_entry(node.input(0), node.input(1), along.dimension)) {
    Shape shape = node.shape(0);
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(along.dimension));
    return node.output(0, node.reshape(NodeOps(node).slice(node.input(0), along.dimension, *entry, 1), shape));
  }
  node.output(0, node.add(Operator::gather, {node.input(0), node.input(1)}, along));
}

namespace {

// What negative padding leaves of a dimension.
struct Part {
  Size begin, count;
};
Part kept_part(const Size& size, const Size& before, const Size& after) {
  const Size begin = min(max(Size(0) - before, 0), size);
  return {begin, max(size - begin - max(Size(0) - after, 0), 0)};
}

// The places of a longer dimension are computed in the call.
constexpr std::int64_t kMaxPadded = 1 << 16;

// Returns the element of the input that stands at a position before, in or after it.
std::int64_t padded_index(const std::string& mode, std::int64_t at, std::int64_t size) {
  const auto modulo = [](std::int64_t a, std::int64_t b) { return (a % b + b) % b; };
  if (mode == "edge") return std::clamp<std::int64_t>(at, 0, size - 1);
  if (mode == "wrap") return modulo(at, size);
  const std::int64_t period = std::max<std::int64_t>(2 * (size - 1), 1), place = modulo(at, period);
  return std::min(place, period - place) % size;
}

// Returns the same of every position, as it is computed in the call.
Value computed_places(const NodeImport& node, const std::string& mode, const Size& size, const Size& before,
                      const Size& after) {
  const NodeOps of(node);
  const Value at = of.sub(of.iota(before + size + after), of.size(before));
  if (mode == "edge") return of.minimum(of.maximum(at, 0), of.size(size - 1));
  if (mode == "wrap") return of.modulo(at, of.size(size));
  const Value period = of.size(max((size - 1) * 2, 1)), place = of.modulo(at, period);
  return of.minimum(place, of.sub(period, place));
}

// Pads with elements of the input itself, in the dimension d. Negative padding takes elements away first, which are not
// repeated.
Value padded_with_itself(const NodeImport& node, Value x, const std::string& mode, std::size_t d, Size before,
                         Size after) {
  if (!proves_less(-1, before) || !proves_less(-1, after)) {
    const Part kept = kept_part(x.type.shape[d], before, after);
    x = NodeOps(node).slice(x, d, kept.begin, kept.count);
    before = max(before, 0);
    after = max(after, 0);
  }
  if (before.constant() == 0 && after.constant() == 0) return x;
  const std::optional<std::int64_t> size = x.type.shape[d].constant(), begin = before.constant(),
                                    end = after.constant();
  const auto is_small = [](std::int64_t value) { return value > -kMaxPadded && value < kMaxPadded; };
  node.expect(size != 0, "elements to pad with", [&] { return to_text(x.type); });
  if (!size || !begin || !end || !is_small(*size) || !is_small(*begin) || !is_small(*end)) {
    const Value places = computed_places(node, mode, x.type.shape[d], before, after);
    return node.add(Operator::gather, {x, places}, DimensionAttributes{d});
  }
  std::vector<Size> indices;
  for (std::int64_t at = -*begin; at < *size + *end; ++at) indices.emplace_back(padded_index(mode, at, *size));
  return node.add(Operator::gather, {x, node.known(DType::i64, std::move(indices))}, DimensionAttributes{d});
}

struct Padding {
  std::vector<std::size_t> dimensions;
  std::vector<Size> before, after;  // one entry for each dimension
};

Padding read_padding(NodeImport& node, std::size_t rank) {
  std::vector<Size> pads;
  std::vector<std::int64_t> axes;
  if (node.opset() < 11) {
    for (const std::int64_t size : node.integers("pads")) pads.emplace_back(size);
  } else {
    pads = node.sizes(1, "the padding");
    if (node.has_input(3)) axes = node.numbers(3, "the axes");
  }
  if (axes.empty()) axes = first_axes(rank);
  node.expect(pads.size() == 2 * axes.size(), "two sizes of padding for each axis", [&] { return to_text(pads); });
  Padding padding;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t d = node.dimension(axes[i], rank);
    const bool is_new = std::find(padding.dimensions.begin(), padding.dimensions.end(), d) == padding.dimensions.end();
    node.expect(is_new, "different axes", [&] { return "the axis " + std::to_string(axes[i]) + " twice"; });
    padding.dimensions.push_back(d);
    padding.before.push_back(pads[i]);
    padding.after.push_back(pads[i + axes.size()]);
  }
  return padding;
}

// Returns what pads with constants; nothing where the constant is not known.
std::optional<PadAttributes> constant_padding(NodeImport& node) {
  const std::size_t rank = node.shape(0).size();
  PadAttributes pad = {Shape(rank, 0), Shape(rank, 0)};
  if (node.opset() < 11) {
    pad.value = node.real("value", 0);
    if (!is_float(node.input(0).type.dtype)) pad.integer = static_cast<std::int64_t>(pad.value);
    return pad;
  }
  if (!node.has_input(2)) return pad;
  const Value& value = node.input(2);
  node.expect(value.type.dtype == node.input(0).type.dtype && element_count(value.type.shape).constant() == 1,
              "one value of the data's type", [&] { return to_text(value.type); });
  const bool is_known =
      value.known != nullptr && (is_float(value.type.dtype) || value.known->integers[0].constant().has_value());
  if (!is_known) return std::nullopt;
  if (is_float(value.type.dtype)) {
    pad.value = value.known->reals[0];
  } else {
    pad.integer = *value.known->integers[0].constant();
  }
  return pad;
}

// Pads with constants, and takes elements away where the padding is negative. Padding behind elements that are taken
// away, and more than there are, begins behind those that are missing.
Value padded_with_constants(NodeImport& node, const Padding& padding) {
  const NodeOps of(node);
  Value x = node.input(0);
  const std::optional<PadAttributes> known = constant_padding(node);
  PadAttributes pad = known.value_or(PadAttributes{Shape(x.type.shape.size(), 0), Shape(x.type.shape.size(), 0)});
  SliceAttributes rest = whole_slice(x.type.shape);
  bool has_padding = false;
  for (std::size_t i = 0; i < padding.dimensions.size(); ++i) {
    const std::size_t d = padding.dimensions[i];
    const Size &before = padding.before[i], &after = padding.after[i], size = x.type.shape[d];
    const bool takes_away = !proves_less(-1, before) || !proves_less(-1, after);
    const Size total = size + before + after;
    node.expect(!proves_less(total, 0), "padding that leaves 0 elements or more", [&] { return to_text(total); });
    const Part kept = takes_away ? kept_part(size, before, after) : Part{0, size};
    rest.begin[d] = kept.begin;
    rest.shape[d] = kept.count;
    pad.before[d] = takes_away ? min(max(before, 0), total) : before;
    pad.after[d] = total - pad.before[d] - kept.count;
    has_padding |= pad.before[d].constant() != 0 || pad.after[d].constant() != 0;
  }
  if (!(rest.shape == x.type.shape)) x = node.add(Operator::slice, {x}, rest);
  if (!has_padding) return x;
  if (known) return node.add(Operator::pad, {x}, pad);
  const Value is_inside = node.add(Operator::pad, {of.filled({DType::boolean, x.type.shape}, 1)}, pad);
  return of.where(is_inside, node.add(Operator::pad, {x}, pad), node.reshape(node.input(2), {}));
}

}  // namespace

void import_pad(NodeImport& node) {
  const Value& x = node.input(0);
  const std::size_t rank = x.type.shape.size();
  const std::string mode = node.text("mode", "constant");
  node.expect(mode == "constant" || mode == "reflect" || mode == "edge" || mode == "wrap",
              "the mode constant, reflect, edge or wrap", [&] { return mode; });
  const Padding padding = read_padding(node, rank);
  if (mode == "constant") return node.output(0, padded_with_constants(node, padding));
  node.ignore({"value"});
  Value value = x;
  for (std::size_t i = 0; i < padding.dimensions.size(); ++i)
    value = padded_with_itself(node, value, mode, padding.dimensions[i], padding.before[i], padding.after[i]);
  node.output(0, value);
}

void import_slice(NodeImport& node) {
  constexpr std::int64_t kMaxStep = std::int64_t{1} << 40;
  const Shape& x = node.shape(0);
  SliceAttributes slice = whole_slice(x);
  const SliceBounds bounds = read_bounds(node);
  for (std::size_t i = 0; i < bounds.axes.size(); ++i) {
    const std::size_t d = node.dimension(bounds.axes[i], x.size());
    const std::int64_t step = bounds.steps[i];
    node.expect(step != 0, "steps other than 0", [&] { return std::to_string(step); });
    const bool is_forwards = step > 0;
    const Size last = x[d] - (is_forwards ? 0 : 1);
    slice.begin[d] = clamped(bounds.starts[i], x[d], 0, last);
    const Size end = clamped(bounds.ends[i], x[d], is_forwards ? 0 : -1, last);
    const Size extent = is_forwards ? end - slice.begin[d] : slice.begin[d] - end;
    // Steps that no dimension has room for leave the first element at most.
    const bool is_beyond = step > kMaxStep || step < -kMaxStep;
    const std::int64_t distance = is_beyond ? 1 : std::abs(step);
    const Size count = is_beyond ? min(extent, 1) : floor_divide(extent + (distance - 1), distance);
    slice.stride[d] = is_forwards ? distance : -distance;
    slice.shape[d] = x[d].constant() == 0 ? Size(0) : max(count, 0);
    // There may be no element to begin at.
    if (slice.shape[d].constant() == 0) slice.begin[d] = 0, slice.stride[d] = 1;
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
    if (!proves_less(-1, sizes[i])) node.equal("a part's size", sizes[i], "one of at least 0", max(sizes[i], 0));
    SliceAttributes slice = whole_slice(x.type.shape);
    slice.begin[d] = begin;
    slice.shape[d] = sizes[i];
    node.output(i, node.add(Operator::slice, {x}, slice));
    begin = begin + sizes[i];
  }
  node.expect(!proves_different(begin, x.type.shape[d]), "sizes that make up " + to_text(x.type.shape[d]),
              [&] { return to_text(sizes); });
  node.equal("the sum of the parts", begin, "the size that is split", x.type.shape[d]);
}

}  // namespace ferry::graph::onnx
