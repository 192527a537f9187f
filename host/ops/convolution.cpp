#include "ferry/ops/convolution.h"

#include "crosscompile/ir/error.h"
#include "ferry/ops/shapes.h"
#include "host/lang/library.h"
#include "host/ops/checks.h"
#include "host/ops/converted.h"
#include "host/ops/kernel_axes.h"

#include <algorithm>

namespace ferry::ops {
namespace {

Tensor padded(const Tensor& x, const std::vector<Window>& windows, const std::string& name) {
  if (std::none_of(windows.begin(), windows.end(), [](const Window& window) { return window.is_padded(); })) return x;
  std::vector<Expr> before{0, 0}, after{0, 0};
  for (const Window& window : windows) {
    before.push_back(window.padding);
    after.push_back(window.after());
  }
  return pad(x, before, after, name + ".pad");
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

std::vector<std::string> kernel_axes(std::size_t spatial) {
  if (spatial == 1) return {"k"};
  if (spatial == 2) return {"kh", "kw"};
  if (spatial == 3) return {"kd", "kh", "kw"};
  std::vector<std::string> names;
  for (std::size_t d = 0; d < spatial; ++d) names.push_back("k" + std::to_string(d));
  return names;
}

bool Window::is_padded() const { return !ir::is_constant(padding, 0) || !ir::is_constant(after(), 0); }

Expr Window::output_size(const Expr& size, const Expr& kernel) const {
  const Expr around = padding_after.defined() ? padding + padding_after : 2 * padding;
  return (size + around - dilation * (kernel - 1) - 1) / stride + 1;
}

Convolution convolution(Expr stride, Expr padding, Expr dilation, std::int64_t groups) {
  const Window window{std::move(stride), std::move(padding), std::move(dilation)};
  return {window, window, groups};
}

Tensor conv(const Tensor& x, const Tensor& kernel, const std::vector<Window>& windows, std::string name,
            std::int64_t groups, std::optional<DType> products) {
  const std::size_t spatial = windows.size();
  expect_rank(x, spatial + 2, name);
  expect_rank(kernel, spatial + 2, name);
  expect_groups(x, kernel, groups, name);
  const Tensor input = padded(x, windows, name);
  const std::vector<std::string> names = kernel_axes(spatial);
  std::vector<Expr> shape{x.shape()[0], kernel.shape()[0]};
  std::vector<lang::ReduceAxis> axes{lang::reduce_axis(kernel.shape()[1], "c")};
  for (std::size_t d = 0; d < spatial; ++d) {
    shape.push_back(windows[d].output_size(x.shape()[d + 2], kernel.shape()[d + 2]));
    axes.push_back(lang::reduce_axis(kernel.shape()[d + 2], names[d]));
  }
  return lang::library::compute(
      std::move(shape),
      [&](const std::vector<Expr>& i) {
        std::vector<Expr> seen{i[0], channel_of(i[1], axes[0], kernel, groups)}, weight{i[1], axes[0]};
        for (std::size_t d = 0; d < spatial; ++d) {
          seen.push_back(windows[d].place(i[d + 2], axes[d + 1]));
          weight.push_back(axes[d + 1]);
        }
        return lang::sum(converted(input(seen), products) * converted(kernel(weight), products), axes);
      },
      std::move(name));
}

Tensor conv2d(const Tensor& x, const Tensor& kernel, const Convolution& shape, std::string name) {
  return conv(x, kernel, {shape.height, shape.width}, std::move(name), shape.groups);
}

Tensor conv1d(const Tensor& x, const Tensor& kernel, const Window& window, std::string name, std::int64_t groups) {
  return conv(x, kernel, {window}, std::move(name), groups);
}

Tensor depthwise_conv2d(const Tensor& x, const Tensor& kernel, const Convolution& shape, std::string name) {
  expect_rank(x, 4, name);
  expect_rank(kernel, 4, name);
  expect_same(x.shape()[1], kernel.shape()[0], "the channels of '" + x.name() + "' and '" + kernel.name() + "'", name);
  const Expr& each = kernel.shape()[1];
  const bool one = ir::is_constant(each, 1);
  const Tensor input = padded(x, {shape.height, shape.width}, name);
  const lang::ReduceAxis kh = lang::reduce_axis(kernel.shape()[2], "kh"),
                         kw = lang::reduce_axis(kernel.shape()[3], "kw");
  return lang::library::compute(
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
