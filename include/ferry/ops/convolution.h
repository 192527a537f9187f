// Convolutions in NCHW order.
#pragma once

#include "ferry/lang/tensor.h"

#include <optional>
#include <string>
#include <vector>

namespace ferry::ops {

using lang::Expr;
using lang::Tensor;

// The movement of a filter over the input in one dimension.
struct Window {
  Expr stride = 1;
  Expr padding = 0;  // on both sides, or before the input
  Expr dilation = 1;
  Expr padding_after = {};  // undefined: as before the input

  const Expr& after() const { return padding_after.defined() ? padding_after : padding; }
  bool is_padded() const;
  // (size + padding + after() - dilation * (kernel - 1) - 1) / stride + 1
  Expr output_size(const Expr& size, const Expr& kernel) const;
  // Returns the position in the padded input that element `k` of the filter reads for output `o`.
  Expr place(const Expr& o, const Expr& k) const { return o * stride + k * dilation; }
};

struct Convolution {
  Window height, width;
  std::int64_t groups = 1;
};
// Returns a convolution with the same parameters in both dimensions.
Convolution convolution(Expr stride, Expr padding, Expr dilation = 1, std::int64_t groups = 1);

// Convolves X [N, C, spatial...] with K [O, C / groups, kernel...] to [N, O, spatial...], with one window for each
// spatial dimension. A padded input is the stage NAME.pad. Elements are converted to the type of the products before
// they are multiplied, if one is given.
Tensor conv(const Tensor& x, const Tensor& kernel, const std::vector<Window>& windows, std::string name,
            std::int64_t groups = 1, std::optional<DType> products = std::nullopt);
// Convolves X [N, C, H, W] with K [O, C / groups, KH, KW] to [N, O, OH, OW].
Tensor conv2d(const Tensor& x, const Tensor& kernel, const Convolution& shape, std::string name);
// Convolves X [N, C, W] with K [O, C / groups, KW] to [N, O, OW].
Tensor conv1d(const Tensor& x, const Tensor& kernel, const Window& window, std::string name, std::int64_t groups = 1);
// Convolves X [N, C, H, W] with K [C, M, KH, KW] to [N, C * M, OH, OW]: each channel has M filters of its own.
Tensor depthwise_conv2d(const Tensor& x, const Tensor& kernel, const Convolution& shape, std::string name);

// A depthwise convolution with D [C, M, KH, KW], the stage NAME.depthwise, followed by a 1x1 convolution with
// P [O, C * M, 1, 1] that mixes the channels.
Tensor depthwise_separable_conv2d(const Tensor& x, const Tensor& depthwise, const Tensor& pointwise,
                                  const Convolution& shape, std::string name);

}  // namespace ferry::ops
