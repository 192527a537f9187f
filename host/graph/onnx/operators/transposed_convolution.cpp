// Transposed convolution as sub-pixel convolution: the filter is split into one part for each phase of the stride, the
// parts are channels of an ordinary convolution, and depth-to-space interleaves them.
#include <algorithm>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"
#include "host/graph/onnx/windows.h"

namespace ferry::graph::onnx {
namespace {

constexpr std::int64_t kMaxWindow = 1 << 20;

// One spatial dimension: the result's elements from `begin` on, in the whole product of input and filter.
struct TransposedWindow {
  std::int64_t kernel = 1, stride = 1, dilation = 1, begin = 0;
  Size size;  // the result's

  std::int64_t extent() const { return (kernel - 1) * dilation + 1; }
  std::int64_t taps() const { return (extent() + stride - 1) / stride; }  // in each part of the filter
};

// Puts zeros between the entries of a dimension.
Value dilated(const NodeOps& of, const Value& x, std::size_t d, std::int64_t by) {
  if (by == 1) return x;
  Shape apart = x.type.shape, together = x.type.shape;
  apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(d) + 1, 1);
  together[d] = together[d] * by;
  const Value zeros_between = of.reshape(of.pad(of.reshape(x, apart), d + 1, 0, by - 1), together);
  return of.slice(zeros_between, d, 0, together[d] - (by - 1));
}

// Moves dimension `from` to stand before dimension `to`.
Value moved(const NodeOps& of, const Value& x, std::size_t from, std::size_t to) {
  std::vector<std::size_t> order = dimensions_from(0, x.type.shape.size());
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(to > from ? to - 1 : to), from);
  return of.transpose(x, order);
}

// Divides dimension d into one of `outer` and one of `inner` entries after it.
Value divided(const NodeOps& of, const Value& x, std::size_t d, const Size& outer, const Size& inner) {
  Shape shape = x.type.shape;
  shape[d] = outer;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(d) + 1, inner);
  return of.reshape(x, shape);
}

// Makes one dimension of d and the one after it.
Value merged(const NodeOps& of, const Value& x, std::size_t d) {
  Shape shape = x.type.shape;
  shape[d] = shape[d] * shape[d + 1];
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(d) + 1);
  return of.reshape(x, shape);
}

// Returns the filters [C, O / groups, kernel...] as those of a convolution [O * strides, C / groups, taps...].
Value filters_of(const NodeOps& of, Value w, const std::vector<TransposedWindow>& windows, std::int64_t groups) {
  w = divided(of, w, 0, groups, floor_divide(w.type.shape[0], groups));
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const TransposedWindow& window = windows[i];
    const std::size_t d = i + 3;
    w = of.pad(dilated(of, w, d, window.dilation), d, 0, window.taps() * window.stride - window.extent());
    if (window.stride > 1) {
      w = merged(of, moved(of, divided(of, w, d, window.taps(), window.stride), d + 1, 3), 2);
    }
    if (window.taps() > 1) w = of.slice(w, d, window.taps() - 1, window.taps(), -1);
  }
  return merged(of, moved(of, w, 2, 1), 0);
}

Value convolve_transposed(const NodeOps& of, const NodeImport& node, const Value& x, const Value& w,
                          const std::vector<TransposedWindow>& windows, std::int64_t groups) {
  ConvAttributes conv = {{}, groups};
  for (const TransposedWindow& window : windows)
    conv.windows.push_back({window.taps(), 1, 1, window.taps() - 1, window.taps() - 1});
  Value y = node.add(Operator::conv, {x, filters_of(of, w, windows, groups)}, conv);
  Size channels = y.type.shape[1];
  for (std::size_t i = windows.size(); i-- > 0;) {
    const std::int64_t stride = windows[i].stride;
    if (stride == 1) continue;
    channels = floor_divide(channels, stride);
    y = merged(of, moved(of, divided(of, y, 1, channels, stride), 2, i + 4), i + 2);
  }
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const TransposedWindow& window = windows[i];
    const std::size_t d = i + 2;
    const Size missing = Size(window.begin) + window.size - y.type.shape[d];
    y = of.pad(y, d, std::max<std::int64_t>(0, -window.begin), max(missing, 0));
    y = of.slice(y, d, std::max<std::int64_t>(0, window.begin), window.size);
  }
  return y;
}

void expect_window(const NodeImport& node, const TransposedWindow& window) {
  for (const std::int64_t value : {window.kernel, window.stride, window.dilation}) {
    node.expect(value > 0 && value <= kMaxWindow, "kernel sizes, strides and dilations from 1 to 2^20",
                [&] { return std::to_string(value); });
  }
  node.expect(window.extent() <= kMaxWindow, "windows of at most 2^20 elements",
              [&] { return std::to_string(window.extent()); });
}

}  // namespace

void import_conv_transpose(NodeImport& node) {
  const NodeOps of(node);
  const Shape &x = node.shape(0), &w = node.shape(1);
  const std::vector<std::int64_t> kernel = read_kernel(node, w);
  const std::size_t count = kernel.size();
  node.expect(count > 0 && x.size() == count + 2, "an input of rank " + std::to_string(count + 2),
              [&] { return to_text(x); });
  const std::int64_t groups = node.integer("group", 1);
  node.expect(groups > 0 && w[0] == x[1] && divide_exactly(x[1], groups).has_value(),
              "filters for the input's channels, which the groups divide",
              [&] { return to_text(w) + " for " + to_text(x); });
  const auto each = [&](const char* name, std::int64_t otherwise) { return one_each(node, name, count, otherwise); };
  const std::vector<std::int64_t> strides = each("strides", 1), dilations = each("dilations", 1),
                                  extra = each("output_padding", 0), wanted = each("output_shape", 0),
                                  pads = one_each(node, "pads", 2 * count, 0);
  const std::string automatic = node.text("auto_pad", "NOTSET");
  node.expect(automatic == "NOTSET" || automatic == "VALID" || automatic.starts_with("SAME_"),
              "auto_pad of NOTSET, VALID, SAME_UPPER or SAME_LOWER", [&] { return automatic; });
  std::vector<TransposedWindow> windows;
  for (std::size_t i = 0; i < count; ++i) {
    TransposedWindow window = {kernel[i], strides[i], dilations[i], automatic == "NOTSET" ? pads[i] : 0, {}};
    expect_window(node, window);
    for (const std::int64_t value : {extra[i], wanted[i], pads[i], pads[i + count]}) {
      node.expect(value >= 0 && value < std::int64_t{1} << 40, "padding and output sizes from 0 to 2^40",
                  [&] { return std::to_string(value); });
    }
    const Size full = (x[i + 2] - 1) * window.stride + extra[i] + window.extent();
    const bool is_same = automatic.starts_with("SAME_");
    if (is_same || node.has("output_shape")) {
      window.size = node.has("output_shape") ? Size(wanted[i]) : x[i + 2] * window.stride;
      const std::optional<std::int64_t> total = (full - window.size).constant();
      node.expect(total.has_value(), "spatial sizes that are numbers, for padding by the result's size",
                  [&] { return to_text(x); });
      const std::int64_t half = *total >= 0 ? *total / 2 : (*total - 1) / 2;  // rounded down
      window.begin = automatic == "SAME_UPPER" ? half : *total - half;
    } else {
      window.size = full - window.begin - (automatic == "NOTSET" ? pads[i + count] : 0);
    }
    node.expect(!proves_less(window.size, 1), "a result with elements", [&] { return to_text(window.size); });
    windows.push_back(window);
  }
  Value y = convolve_transposed(of, node, node.input(0), node.input(1), windows, groups);
  if (node.has_input(2)) {
    Shape channels(count + 1, 1);
    channels[0] = w[1] * groups;
    y = of.add(y, of.reshape(node.input(2), channels));
  }
  node.output(0, y);
}

// Adds columns up to images where they overlap: the transposed convolution with filters that each have a single 1.
void import_col2im(NodeImport& node) {
  const NodeOps of(node);
  const Value& x = node.input(0);
  const std::vector<std::int64_t> image = node.numbers(1, "the image's shape"),
                                  block = node.numbers(2, "the block's shape");
  const std::size_t count = block.size();
  node.expect(count > 0 && count <= 8 && image.size() == count, "an image and blocks of one rank",
              [&] { return std::to_string(image.size()) + " and " + std::to_string(count); });
  node.expect(x.type.shape.size() == 3, "columns of rank 3", [&] { return to_text(x.type.shape); });
  const auto each = [&](const char* name, std::int64_t otherwise) { return one_each(node, name, count, otherwise); };
  const std::vector<std::int64_t> strides = each("strides", 1), dilations = each("dilations", 1),
                                  pads = one_each(node, "pads", 2 * count, 0);
  std::vector<TransposedWindow> windows;
  std::int64_t elements = 1;
  Shape filters = {0, 1}, columns = {0, 0};
  for (std::size_t i = 0; i < count; ++i) {
    const TransposedWindow window = {block[i], strides[i], dilations[i], pads[i], image[i]};
    expect_window(node, window);
    elements *= block[i];
    node.expect(elements <= 4096, "blocks of at most 4096 elements", [&] { return std::to_string(elements); });
    for (const std::int64_t value : {image[i], pads[i], pads[i + count]}) {
      node.expect(value >= 0 && value <= kMaxWindow, "sizes and padding from 0 to 2^20",
                  [&] { return std::to_string(value); });
    }
    const std::int64_t room = image[i] + pads[i] + pads[i + count] - window.extent();
    node.expect(room >= 0, "blocks that fit the image", [&] { return std::to_string(block[i]); });
    filters.push_back(block[i]);
    columns.push_back(room / strides[i] + 1);
    windows.push_back(window);
  }
  const std::optional<Size> channels = divide_exactly(x.type.shape[1], elements);
  node.expect(channels.has_value(), "columns of whole blocks", [&] { return to_text(x.type.shape); });
  filters[0] = columns[1] = elements;
  columns[0] = x.type.shape[0] * *channels;
  const Value ones = of.equal(of.iota(elements, 0, 2), of.iota(elements, 1, 2));
  const Value images = convolve_transposed(of, node, of.reshape(x, columns),
                                           of.reshape(node.cast(ones, x.type.dtype), filters), windows, 1);
  Shape shape = {x.type.shape[0], *channels};
  shape.insert(shape.end(), image.begin(), image.end());
  node.output(0, of.reshape(images, shape));
}

}  // namespace ferry::graph::onnx
