// Pooling in NCHW order.
#pragma once

#include "ferry/ops/convolution.h"

#include <string>
#include <vector>

namespace ferry::ops {

struct Pooling {
  Expr kernel_height = 2, kernel_width = 2;
  Window height, width;
  // Whether an average divides by the size of the whole window or of its part inside the image.
  bool count_padding = false;
};
// Returns pooling with the same parameters in both dimensions.
Pooling pooling(Expr kernel, Expr stride, Expr padding, bool count_padding = false);

// Pooling over any number of spatial dimensions.
struct PoolWindow {
  Expr kernel = 2;
  Window window;
};
struct NdPooling {
  std::vector<PoolWindow> windows;  // one for each spatial dimension
  // Rounds the output's size up, so that the last window may exceed the padded input; it never starts behind the input
  // and the padding before it.
  bool ceil = false;
  bool count_padding = false;  // as of Pooling; what exceeds the padding never counts

  // Returns the output's size in a spatial dimension.
  Expr output_size(std::size_t dimension, const Expr& size) const;
};

// X is [N, C, spatial...]. A padded input is the stage NAME.pad; the padding is the identity of max.
Tensor max_pool(const Tensor& x, const NdPooling& shape, std::string name);
// The sum of each window is the stage NAME.sum.
Tensor average_pool(const Tensor& x, const NdPooling& shape, std::string name);
// The same over images.
Tensor max_pool2d(const Tensor& x, const Pooling& shape, std::string name);
Tensor avg_pool2d(const Tensor& x, const Pooling& shape, std::string name);
// Pools over all of H and W, to [N, C].
Tensor global_max_pool2d(const Tensor& x, std::string name);
Tensor global_avg_pool2d(const Tensor& x, std::string name);

}  // namespace ferry::ops
