#include "ferry/ops/pooling.h"

#include "host/graph/kernels/families.h"

namespace ferry::graph {

lang::Tensor pooling(Operator op, const PoolAttributes& attributes, const Inputs& inputs, const std::string& name) {
  ops::NdPooling shape{.windows = {}, .ceil = attributes.ceil, .count_padding = attributes.count_padding};
  for (const WindowAttributes& window : attributes.windows)
    shape.windows.push_back({window.kernel, {window.stride, window.pad_before, window.dilation, window.pad_after}});
  return op == Operator::max_pool ? ops::max_pool(inputs[0], shape, name) : ops::average_pool(inputs[0], shape, name);
}

}  // namespace ferry::graph
