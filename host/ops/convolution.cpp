#include "host/ops/convolution.h"

#include "crosscompile/ir/error.h"
#include "host/ops/shapes.h"

namespace ferry::ops {
namespace {

Tensor padded(const Tensor& x, const Convolution& shape, const std::string& name) {
  if (ir::is_constant(shape.height.padding, 0) && ir::is_constant(shape.width.padding, 0)) return x;
  const std::vector<Expr> around{0, 0, shape.height.padding, shape.width.padding};
  return pad(x, around, around, name + ".pad");
}

}  // namespace

Expr Window::output_size(const Expr& size, const Expr& kernel) const {
  return (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
}

Convolution convolution(Expr stride, Expr padding, Expr dilation, std::int64_t groups) {
  const Window window{std::move(stride), std::move(padding), std::move(dilation)};
  return {window, window, groups};
}

Tensor conv2d(const Tensor& x, const Tensor& kernel, const Convolution& shape, std::string name) {
  expect_rank(x, 4, name);
  expect_rank(kernel, 4, name);
  if (shape.groups < 1)
    throw CompileError("'" + name + "': expected at least 1 group, got " + std::to_string(shape.groups));
  const Expr groups(shape.groups);
  const Expr &channels = kernel.shape()[1], &outputs = kernel.shape()[0];
  const std::int64_t *all = ir::as_int(x.shape()[1]), *filters = ir::as_int(outputs);
  if ((all != nullptr && *all % shape.groups != 0) || (filters != nullptr && *filters % shape.groups != 0)) {
    throw CompileError("'" + name + "': expected channels and filters in " + std::to_string(shape.groups) +
                       " equal groups, got " + shape_text(x) + " and " + shape_text(kernel));
  }
  // With symbolic channels and groups the sizes cannot be compared here; a wrong one shows as a read outside the input.
  const Expr each = x.shape()[1] / groups;
  if (shape.groups == 1 || ir::as_int(each) != nullptr) {
    expect_same(each, channels, "the channels that '" + x.name() + "' and '" + kernel.name() + "' have in a group",
                name);
  }
  const Tensor input = padded(x, shape, name);
  const lang::ReduceAxis c = lang::reduce_axis(channels, "c");
  const lang::ReduceAxis kh = lang::reduce_axis(kernel.shape()[2], "kh"),
                         kw = lang::reduce_axis(kernel.shape()[3], "kw");
  return lang::compute(
      {x.shape()[0], outputs, shape.height.output_size(x.shape()[2], kernel.shape()[2]),
       shape.width.output_size(x.shape()[3], kernel.shape()[3])},
      [&](const std::vector<Expr>& i) {
        const Expr channel = shape.groups == 1 ? Expr(c) : i[1] / (outputs / groups) * channels + c;
        const Expr seen = input(i[0], channel, shape.height.place(i[2], kh), shape.width.place(i[3], kw));
        return lang::sum(seen * kernel(i[1], c, kh, kw), {c, kh, kw});
      },
      std::move(name));
}

Tensor depthwise_conv2d(const Tensor& x, const Tensor& kernel, const Convolution& shape, std::string name) {
  expect_rank(x, 4, name);
  expect_rank(kernel, 4, name);
  expect_same(x.shape()[1], kernel.shape()[0], "the channels of '" + x.name() + "' and '" + kernel.name() + "'", name);
  const Expr& each = kernel.shape()[1];
  const bool one = ir::is_constant(each, 1);
  const Tensor input = padded(x, shape, name);
  const lang::ReduceAxis kh = lang::reduce_axis(kernel.shape()[2], "kh"),
                         kw = lang::reduce_axis(kernel.shape()[3], "kw");
  return lang::compute(
      {x.shape()[0], x.shape()[1] * each, shape.height.output_size(x.shape()[2], kernel.shape()[2]),
       shape.width.output_size(x.shape()[3], kernel.shape()[3])},
      [&](const std::vector<Expr>& i) {
        const Expr channel = one ? i[1] : i[1] / each;
        const Expr seen = input(i[0], channel, shape.height.place(i[2], kh), shape.width.place(i[3], kw));
        return lang::sum(seen * kernel(channel, one ? Expr(0) : i[1] % each, kh, kw), {kh, kw});
      },
      std::move(name));
}

}  // namespace ferry::ops
