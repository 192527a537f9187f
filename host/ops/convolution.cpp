#include "ferry/ops/convolution.h"

#include "crosscompile/ir/error.h"
#include "ferry/ops/shapes.h"
#include "host/ops/checks.h"

namespace ferry::ops {
namespace {

Tensor padded(const Tensor& x, const Convolution& shape, const std::string& name) {
  if (ir::is_constant(shape.height.padding, 0) && ir::is_constant(shape.width.padding, 0)) return x;
  const std::vector<Expr> around{0, 0, shape.height.padding, shape.width.padding};
  return pad(x, around, around, name + ".pad");
}

void expect_groups(const Tensor& x, const Tensor& kernel, std::int64_t groups, const std::string& name) {
  if (groups < 1) throw CompileError("'" + name + "': expected at least 1 group, got " + std::to_string(groups));
  const std::int64_t *all = ir::as_int(x.shape()[1]), *filters = ir::as_int(kernel.shape()[0]);
  if ((all != nullptr && *all % groups != 0) || (filters != nullptr && *filters % groups != 0)) {
    throw CompileError("'" + name + "': expected channels and filters in " + std::to_string(groups) +
                       " equal groups, got " + shape_text(x) + " and " + shape_text(kernel));
  }
  // Symbolic channels with groups cannot be compared here; a mismatch shows up as a read outside the input.
  const Expr each = x.shape()[1] / Expr(groups);
  if (groups == 1 || ir::as_int(each) != nullptr) {
    expect_same(each, kernel.shape()[1],
                "the channels that '" + x.name() + "' and '" + kernel.name() + "' have in a group", name);
  }
}

// Returns the input channel that channel `c` of a group's filter reads for output channel `o`.
Expr channel_of(const Expr& o, const Expr& c, const Tensor& kernel, std::int64_t groups) {
  return groups == 1 ? c : o / (kernel.shape()[0] / Expr(groups)) * kernel.shape()[1] + c;
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
  expect_groups(x, kernel, shape.groups, name);
  const Expr &channels = kernel.shape()[1], &outputs = kernel.shape()[0];
  const Tensor input = padded(x, shape, name);
  const lang::ReduceAxis c = lang::reduce_axis(channels, "c");
  const lang::ReduceAxis kh = lang::reduce_axis(kernel.shape()[2], "kh"),
                         kw = lang::reduce_axis(kernel.shape()[3], "kw");
  return lang::compute(
      {x.shape()[0], outputs, shape.height.output_size(x.shape()[2], kernel.shape()[2]),
       shape.width.output_size(x.shape()[3], kernel.shape()[3])},
      [&](const std::vector<Expr>& i) {
        const Expr channel = channel_of(i[1], c, kernel, shape.groups);
        const Expr seen = input(i[0], channel, shape.height.place(i[2], kh), shape.width.place(i[3], kw));
        return lang::sum(seen * kernel(i[1], c, kh, kw), {c, kh, kw});
      },
      std::move(name));
}

Tensor conv1d(const Tensor& x, const Tensor& kernel, const Window& window, std::string name, std::int64_t groups) {
  expect_rank(x, 3, name);
  expect_rank(kernel, 3, name);
  expect_groups(x, kernel, groups, name);
  Tensor input = x;
  if (!ir::is_constant(window.padding, 0))
    input = pad(x, {0, 0, window.padding}, {0, 0, window.padding}, name + ".pad");
  const lang::ReduceAxis c = lang::reduce_axis(kernel.shape()[1], "c"), k = lang::reduce_axis(kernel.shape()[2], "k");
  return lang::compute(
      {x.shape()[0], kernel.shape()[0], window.output_size(x.shape()[2], kernel.shape()[2])},
      [&](const std::vector<Expr>& i) {
        const Expr seen = input(i[0], channel_of(i[1], c, kernel, groups), window.place(i[2], k));
        return lang::sum(seen * kernel(i[1], c, k), {c, k});
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

Tensor depthwise_separable_conv2d(const Tensor& x, const Tensor& depthwise, const Tensor& pointwise,
                                  const Convolution& shape, std::string name) {
  const Tensor each = depthwise_conv2d(x, depthwise, shape, name + ".depthwise");
  return conv2d(each, pointwise, convolution(1, 0), std::move(name));
}

}  // namespace ferry::ops
