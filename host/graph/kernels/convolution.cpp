#include "ferry/ops/blocked.h"
#include "ferry/ops/winograd.h"

#include "host/graph/kernels/families.h"

namespace ferry::graph {
namespace {

bool is_depthwise_2d(const ConvAttributes& attributes, const lang::Tensor& weights) {
  return attributes.groups > 1 && attributes.windows.size() == 2 &&
         ir::is_constant(weights.shape()[0], attributes.groups) && ir::is_constant(weights.shape()[1], 1);
}

}  // namespace

std::vector<ops::Window> windows_of(const ConvAttributes& attributes) {
  std::vector<ops::Window> windows;
  for (const WindowAttributes& window : attributes.windows)
    windows.push_back({window.stride, window.pad_before, window.dilation, window.pad_after});
  return windows;
}

lang::Tensor convolution(const ConvAttributes& attributes, const Inputs& inputs, const std::string& name) {
  const lang::Tensor &x = inputs[0], &weights = inputs[1];
  const std::vector<ops::Window> windows = windows_of(attributes);
  return is_depthwise_2d(attributes, weights) ? ops::depthwise_conv2d(x, weights, {windows[0], windows[1]}, name)
                                              : ops::conv(x, weights, windows, name, attributes.groups);
}

lang::Tensor blocked_convolution(const ConvAttributes& attributes, const Inputs& inputs, std::int64_t lanes,
                                 const std::string& name) {
  const lang::Tensor &x = inputs[0], &weights = inputs[1];
  const std::vector<ops::Window> windows = windows_of(attributes);
  if (x.rank() == 4) return ops::conv2d_to_blocked(x, weights, windows, lanes, name);
  if (attributes.winograd_tile != 0)
    return ops::winograd_conv2d_blocked(x, weights, windows, attributes.winograd_tile, name);
  return is_depthwise_2d(attributes, weights) ? ops::depthwise_conv2d_blocked(x, weights, windows, name)
                                              : ops::conv2d_blocked(x, weights, windows, name, attributes.groups);
}

}  // namespace ferry::graph
