#include "host/graph/onnx/windows.h"

#include <algorithm>
#include <utility>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/window.h"

namespace ferry::graph::onnx {
namespace {

// Sums of numbers up to this fit int64; their products are computed as a Size, which checks them.
constexpr std::int64_t kMaxInWindow = std::int64_t{1} << 40;

void expect_within(const NodeImport& node, std::int64_t least, std::initializer_list<std::int64_t> values,
                   const char* what) {
  for (const std::int64_t value : values) {
    node.expect(value >= least && value <= kMaxInWindow,
                std::string(what) + " from " + std::to_string(least) + " to 2^40",
                [&] { return std::to_string(value); });
  }
}

// Pads so that the number of positions is the size divided by the stride, rounded up.
void pad_to_same(Windows& windows, const Size& size, bool at_end) {
  WindowAttributes& window = windows.each.back();
  const Size extent = Size(window.dilation) * (window.kernel - 1) + 1;
  const Size last = floor_divide(size + (window.stride - 1), window.stride) - 1;
  // With a stride of 1 the size has no influence unless it is 0.
  const Size total = window.stride == 1 ? extent - 1 : max(last * window.stride + extent - size, 0);
  const Size less = floor_divide(total, 2), before = at_end ? less : total - less;
  if (total.constant()) {
    window.pad_before = *before.constant();
    window.pad_after = *(total - before).constant();
  } else {
    windows.before.back() = before;
    windows.after.back() = total - before;
  }
}

}  // namespace

std::vector<std::int64_t> one_each(NodeImport& node, const std::string& name, std::size_t dimensions,
                                   std::int64_t otherwise) {
  std::vector<std::int64_t> values = node.integers(name, std::vector<std::int64_t>(dimensions, otherwise));
  node.expect(values.size() == dimensions,
              "the attribute '" + name + "' with " + std::to_string(dimensions) + " integers",
              [&] { return std::to_string(values.size()); });
  return values;
}

bool Windows::are_padded_outside() const {
  const auto is_some = [](const Size& size) { return size.constant() != 0; };
  return std::ranges::any_of(before, is_some) || std::ranges::any_of(after, is_some);
}

Windows read_windows(NodeImport& node, const Shape& x, const std::vector<std::int64_t>& kernel) {
  const std::size_t count = kernel.size();
  node.expect(x.size() == count + 2, "an input of rank " + std::to_string(count + 2), [&] { return to_text(x); });
  const std::vector<std::int64_t> strides = one_each(node, "strides", count, 1);
  const std::vector<std::int64_t> dilations = one_each(node, "dilations", count, 1);
  const std::vector<std::int64_t> pads = one_each(node, "pads", 2 * count, 0);
  const std::string automatic = node.text("auto_pad", "NOTSET");
  node.expect(automatic == "NOTSET" || automatic == "VALID" || automatic.starts_with("SAME_"),
              "auto_pad of NOTSET, VALID, SAME_UPPER or SAME_LOWER", [&] { return automatic; });
  Windows windows;
  for (std::size_t i = 0; i < count; ++i) {
    WindowAttributes& window = windows.each.emplace_back(WindowAttributes{kernel[i], strides[i], dilations[i]});
    windows.before.emplace_back(0);
    windows.after.emplace_back(0);
    expect_within(node, 1, {kernel[i], strides[i], dilations[i]}, "kernel sizes, strides and dilations");
    expect_within(node, 0, {pads[i], pads[i + count]}, "padding");
    if (automatic == "NOTSET") {
      window.pad_before = pads[i];
      window.pad_after = pads[i + count];
    } else if (automatic != "VALID") {
      pad_to_same(windows, x[i + 2], automatic == "SAME_UPPER");
    }
  }
  return windows;
}

Value padded_outside(const NodeImport& node, const Value& x, const Windows& windows, double value) {
  Value padded = x;
  for (std::size_t i = 0; i < windows.each.size(); ++i)
    padded = NodeOps(node).pad(padded, i + 2, windows.before[i], windows.after[i], value);
  return padded;
}

std::vector<WindowAttributes> read_windows(NodeImport& node, Value& x, const std::vector<std::int64_t>& kernel,
                                           double padding) {
  Windows windows = read_windows(node, x.type.shape, kernel);
  x = padded_outside(node, x, windows, padding);
  return std::move(windows.each);
}

Value average_pool(NodeImport& node, const Value& x, PoolAttributes pool) {
  Windows windows = read_windows(node, x.type.shape, node.integers("kernel_shape"));
  const bool counts_alone = windows.are_padded_outside() && !pool.count_padding;
  const Value padded = padded_outside(node, x, windows, 0);
  pool.windows = windows.each;
  const Value mean = node.add(Operator::average_pool, {padded}, pool);
  if (!counts_alone) return mean;
  // Elements that are padded outside count in these means. The share of elements that are in the image is the mean of
  // ones there.
  const NodeOps of(node);
  Shape image = x.type.shape;
  image[0] = image[1] = 1;
  const Value ones = padded_outside(node, of.filled({x.type.dtype, image}, 1), windows, 0);
  return of.div(mean, node.add(Operator::average_pool, {ones}, pool));
}

Positions positions_of(const NodeImport& node, const Size& size, const WindowAttributes& window, bool ceil) {
  const Node pool;
  try {
    const Size count = window_count(NodeCheck(pool), size, window, ceil);
    const Size extent = Size(window.dilation) * (window.kernel - 1) + 1;
    const Size end = (count - 1) * window.stride + extent;
    return {count, max(end - size - window.pad_before, window.pad_after)};
  } catch (const NodeError& error) {
    node.refuse(error.detail());
  }
}

std::vector<std::int64_t> read_kernel(NodeImport& node, const Shape& filters) {
  std::vector<std::int64_t> kernel;
  for (std::size_t d = 2; d < filters.size(); ++d) {
    node.expect(filters[d].constant().has_value(), "filters of known size", [&] { return to_text(filters); });
    kernel.push_back(*filters[d].constant());
  }
  const std::vector<std::int64_t> declared = one_each(node, "kernel_shape", kernel.size(), 0);
  node.expect(!node.has("kernel_shape") || declared == kernel, "kernel_shape to be the filters' size",
              [&] { return "another for filters of " + to_text(filters); });
  return kernel;
}

ConvAttributes read_convolution(NodeImport& node, Value& x, std::size_t filters) {
  const std::vector<std::int64_t> kernel = read_kernel(node, node.shape(filters));
  return {read_windows(node, x, kernel, 0), node.integer("group", 1)};
}

}  // namespace ferry::graph::onnx
