#include "host/graph/onnx/windows.h"

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
void pad_to_same(NodeImport& node, WindowAttributes& window, const Size& size, bool at_end) {
  const Size extent = Size(window.dilation) * (window.kernel - 1) + 1;
  const Size last = floor_divide(size + (window.stride - 1), window.stride) - 1;
  // With a stride of 1 the size has no influence unless it is 0.
  const Size missing = window.stride == 1 ? extent - 1 : max(last * window.stride + extent - size, 0);
  const std::optional<std::int64_t> total = missing.constant();
  node.expect(total.has_value() && *total >= 0, "spatial sizes that are numbers, for padding by auto_pad",
              [&] { return to_text(size); });
  window.pad_before = at_end ? *total / 2 : *total - *total / 2;
  window.pad_after = *total - window.pad_before;
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

std::vector<WindowAttributes> read_windows(NodeImport& node, const Shape& x, const std::vector<std::int64_t>& kernel) {
  const std::size_t count = kernel.size();
  node.expect(x.size() == count + 2, "an input of rank " + std::to_string(count + 2), [&] { return to_text(x); });
  const std::vector<std::int64_t> strides = one_each(node, "strides", count, 1);
  const std::vector<std::int64_t> dilations = one_each(node, "dilations", count, 1);
  const std::vector<std::int64_t> pads = one_each(node, "pads", 2 * count, 0);
  const std::string automatic = node.text("auto_pad", "NOTSET");
  node.expect(automatic == "NOTSET" || automatic == "VALID" || automatic.starts_with("SAME_"),
              "auto_pad of NOTSET, VALID, SAME_UPPER or SAME_LOWER", [&] { return automatic; });
  std::vector<WindowAttributes> windows;
  for (std::size_t i = 0; i < count; ++i) {
    WindowAttributes& window = windows.emplace_back(WindowAttributes{kernel[i], strides[i], dilations[i]});
    expect_within(node, 1, {kernel[i], strides[i], dilations[i]}, "kernel sizes, strides and dilations");
    expect_within(node, 0, {pads[i], pads[i + count]}, "padding");
    if (automatic == "NOTSET") {
      window.pad_before = pads[i];
      window.pad_after = pads[i + count];
    } else if (automatic != "VALID") {
      pad_to_same(node, window, x[i + 2], automatic == "SAME_UPPER");
    }
  }
  return windows;
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

ConvAttributes read_convolution(NodeImport& node, std::size_t x, std::size_t filters) {
  const std::vector<std::int64_t> kernel = read_kernel(node, node.shape(filters));
  return {read_windows(node, node.shape(x), kernel), node.integer("group", 1)};
}

}  // namespace ferry::graph::onnx
