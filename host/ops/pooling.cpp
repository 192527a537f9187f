#include "ferry/ops/pooling.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"
#include "ferry/ops/blocked.h"
#include "ferry/ops/reductions.h"
#include "ferry/ops/shapes.h"
#include "host/lang/library.h"
#include "host/ops/checks.h"
#include "host/ops/kernel_axes.h"

namespace ferry::ops {
namespace {

// Returns the padding behind the input that its windows read.
Expr read_behind(const NdPooling& shape, std::size_t d, const Expr& size) {
  const auto& [kernel, window] = shape.windows[d];
  if (!shape.ceil) return window.after();
  const Expr last = (shape.output_size(d, size) - 1) * window.stride + window.dilation * (kernel - 1) + 1;
  return ir::max(window.after(), last - size - window.padding);
}

// X has any number of dimensions behind the spatial ones.
Tensor pool(ir::ReduceOp op, const Tensor& x, const NdPooling& shape, const std::string& name,
            const std::string& pad_name) {
  const std::size_t spatial = shape.windows.size();
  std::vector<Expr> before{0, 0}, after{0, 0}, sizes{x.shape()[0], x.shape()[1]};
  std::vector<lang::ReduceAxis> axes;
  const std::vector<std::string> names = kernel_axes(spatial);
  bool is_padded = false;
  for (std::size_t d = 0; d < spatial; ++d) {
    before.push_back(shape.windows[d].window.padding);
    after.push_back(read_behind(shape, d, x.shape()[d + 2]));
    is_padded |= !ir::is_constant(before.back(), 0) || !ir::is_constant(after.back(), 0);
    sizes.push_back(shape.output_size(d, x.shape()[d + 2]));
    axes.push_back(lang::reduce_axis(shape.windows[d].kernel, names[d]));
  }
  before.resize(x.rank(), 0);
  after.resize(x.rank(), 0);
  sizes.insert(sizes.end(), x.shape().begin() + static_cast<std::ptrdiff_t>(spatial) + 2, x.shape().end());
  const Tensor input = is_padded ? pad(x, before, after, pad_name, ir::identity_of(op, ir::Type(x.dtype()))) : x;
  return lang::library::compute(
      std::move(sizes),
      [&](const std::vector<Expr>& i) {
        std::vector<Expr> at{i[0], i[1]};
        for (std::size_t d = 0; d < spatial; ++d) at.push_back(shape.windows[d].window.place(i[d + 2], axes[d]));
        at.insert(at.end(), i.begin() + static_cast<std::ptrdiff_t>(spatial) + 2, i.end());
        return lang::reduce(op, input(at), axes);
      },
      name);
}

// Returns the number of elements of the window at output `o` that lie inside the image.
Expr inside(const PoolWindow& pool, const Expr& o, const Expr& size) {
  const auto& [kernel, window] = pool;
  const Expr begin = o * window.stride - window.padding;
  if (!window.is_padded()) return kernel;
  if (ir::is_constant(window.dilation, 1)) return ir::min(begin + kernel, size) - ir::max(begin, 0);
  // Counts the elements begin, begin + dilation, ... that are below `size`, minus those below 0.
  const auto below = [&](const Expr& end) {
    return ir::max(0, ir::min(kernel, ir::ceil_div(end - begin, window.dilation)));
  };
  return below(size) - below(0);
}

// Returns by how much an average divides in one dimension.
Expr divisor(const NdPooling& shape, std::size_t d, const Expr& o, const Expr& size) {
  const PoolWindow& pool = shape.windows[d];
  if (!shape.ceil) return shape.count_padding ? pool.kernel : inside(pool, o, size);
  // The last window may exceed the padded input, which is what counts if the padding does.
  PoolWindow counted = pool;
  counted.window.padding_after = read_behind(shape, d, size);
  if (!shape.count_padding) return inside(counted, o, size);
  counted.window.padding = 0;
  return inside(counted, o, pool.window.padding + size + pool.window.after());
}

Tensor average(const Tensor& x, const NdPooling& shape, std::string name) {
  const Tensor total = pool(ir::ReduceOp::sum, x, shape, name + ".sum", name + ".pad");
  return lang::library::compute(
      total.shape(),
      [&](const std::vector<Expr>& i) {
        Expr count = divisor(shape, 0, i[2], x.shape()[2]);
        for (std::size_t d = 1; d < shape.windows.size(); ++d)
          count = count * divisor(shape, d, i[d + 2], x.shape()[d + 2]);
        // The average of a window without elements is 0.
        return total(i) / ir::cast(total.dtype(), ir::max(count, 1));
      },
      std::move(name));
}

void expect_blocked(const Tensor& x, const NdPooling& shape, const std::string& name) {
  expect_rank(x, 5, name);
  if (shape.windows.size() != 2)
    throw CompileError("'" + name + "': expected a window for the height and one for the width, got " +
                       std::to_string(shape.windows.size()));
}

NdPooling over_image(const Pooling& shape) {
  return {{{shape.kernel_height, shape.height}, {shape.kernel_width, shape.width}}, false, shape.count_padding};
}

}  // namespace

Expr NdPooling::output_size(std::size_t dimension, const Expr& size) const {
  const auto& [kernel, window] = windows[dimension];
  if (!ceil) return window.output_size(size, kernel);
  const Expr extent = window.dilation * (kernel - 1) + 1;
  const Expr all = ir::ceil_div(size + window.padding + window.after() - extent, window.stride) + 1;
  return ir::min(all, (size + window.padding - 1) / window.stride + 1);
}

Pooling pooling(Expr kernel, Expr stride, Expr padding, bool count_padding) {
  const Window window{std::move(stride), std::move(padding), 1};
  return {kernel, kernel, window, window, count_padding};
}

Tensor max_pool(const Tensor& x, const NdPooling& shape, std::string name) {
  expect_rank(x, shape.windows.size() + 2, name);
  return pool(ir::ReduceOp::max, x, shape, name, name + ".pad");
}

Tensor average_pool(const Tensor& x, const NdPooling& shape, std::string name) {
  expect_rank(x, shape.windows.size() + 2, name);
  return average(x, shape, std::move(name));
}

Tensor max_pool2d_blocked(const Tensor& x, const NdPooling& shape, std::string name) {
  expect_blocked(x, shape, name);
  return pool(ir::ReduceOp::max, x, shape, name, name + ".pad");
}

Tensor average_pool2d_blocked(const Tensor& x, const NdPooling& shape, std::string name) {
  expect_blocked(x, shape, name);
  return average(x, shape, std::move(name));
}

Tensor max_pool2d(const Tensor& x, const Pooling& shape, std::string name) {
  return max_pool(x, over_image(shape), std::move(name));
}

Tensor avg_pool2d(const Tensor& x, const Pooling& shape, std::string name) {
  return average_pool(x, over_image(shape), std::move(name));
}

Tensor global_max_pool2d(const Tensor& x, std::string name) {
  expect_rank(x, 4, name);
  return max(x, {2, 3}, std::move(name));
}

Tensor global_avg_pool2d(const Tensor& x, std::string name) {
  expect_rank(x, 4, name);
  return mean(x, {2, 3}, std::move(name));
}

}  // namespace ferry::ops
