#include "ferry/ops/pooling.h"

#include "ferry/ops/blocked.h"
#include "host/graph/kernels/families.h"

namespace ferry::graph {
namespace {

ops::NdPooling pooling_of(const PoolAttributes& attributes) {
  ops::NdPooling shape{.windows = {}, .ceil = attributes.ceil, .count_padding = attributes.count_padding};
  for (const WindowAttributes& window : attributes.windows)
    shape.windows.push_back({window.kernel, {window.stride, window.pad_before, window.dilation, window.pad_after}});
  return shape;
}

}  // namespace

lang::Tensor pooling(Operator op, const PoolAttributes& attributes, const Inputs& inputs, const std::string& name) {
  const ops::NdPooling shape = pooling_of(attributes);
  return op == Operator::max_pool ? ops::max_pool(inputs[0], shape, name) : ops::average_pool(inputs[0], shape, name);
}

lang::Tensor blocked_pooling(Operator op, const PoolAttributes& attributes, const Inputs& inputs,
                             const std::string& name) {
  const ops::NdPooling shape = pooling_of(attributes);
  return op == Operator::max_pool ? ops::max_pool2d_blocked(inputs[0], shape, name)
                                  : ops::average_pool2d_blocked(inputs[0], shape, name);
}

lang::Tensor blocked_reduction(Operator op, const lang::Tensor& x, const std::string& name) {
  const ops::NdPooling all{.windows = {{x.shape()[2], {}}, {x.shape()[3], {}}}};
  return op == Operator::reduce_max ? ops::max_pool2d_blocked(x, all, name) : ops::average_pool2d_blocked(x, all, name);
}

}  // namespace ferry::graph
