// Pooling over images in NCHW order.
#pragma once

#include "ferry/ops/convolution.h"

#include <string>

namespace ferry::ops {

struct Pooling {
  Expr kernel_height = 2, kernel_width = 2;
  Window height, width;
  // Whether an average divides by the size of the whole window or of its part inside the image.
  bool count_padding = false;
};
// Returns pooling with the same parameters in both dimensions.
Pooling pooling(Expr kernel, Expr stride, Expr padding, bool count_padding = false);

// A padded input is the stage NAME.pad; the padding is the identity of max.
Tensor max_pool2d(const Tensor& x, const Pooling& shape, std::string name);
// The sum of each window is the stage NAME.sum.
Tensor avg_pool2d(const Tensor& x, const Pooling& shape, std::string name);
// Pools over all of H and W, to [N, C].
Tensor global_max_pool2d(const Tensor& x, std::string name);
Tensor global_avg_pool2d(const Tensor& x, std::string name);

}  // namespace ferry::ops
