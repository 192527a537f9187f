#include "ferry/ops/pooling.h"

#include "crosscompile/ir/expr.h"
#include "ferry/ops/reductions.h"
#include "ferry/ops/shapes.h"
#include "host/ops/checks.h"

namespace ferry::ops {
namespace {

Tensor pool(ir::ReduceOp op, const Tensor& x, const Pooling& shape, const std::string& name,
            const std::string& pad_name) {
  expect_rank(x, 4, name);
  Tensor input = x;
  if (!ir::is_constant(shape.height.padding, 0) || !ir::is_constant(shape.width.padding, 0)) {
    const std::vector<Expr> around{0, 0, shape.height.padding, shape.width.padding};
    input = pad(x, around, around, pad_name, ir::identity_of(op, ir::Type(x.dtype())));
  }
  const lang::ReduceAxis kh = lang::reduce_axis(shape.kernel_height, "kh"),
                         kw = lang::reduce_axis(shape.kernel_width, "kw");
  return lang::compute(
      {x.shape()[0], x.shape()[1], shape.height.output_size(x.shape()[2], shape.kernel_height),
       shape.width.output_size(x.shape()[3], shape.kernel_width)},
      [&](const std::vector<Expr>& i) {
        return lang::reduce(op, input(i[0], i[1], shape.height.place(i[2], kh), shape.width.place(i[3], kw)), {kh, kw});
      },
      name);
}

// Returns the number of elements of the window at output `o` that lie inside the image.
Expr inside(const Window& window, const Expr& o, const Expr& kernel, const Expr& size) {
  const Expr begin = o * window.stride - window.padding;
  if (ir::is_constant(window.padding, 0)) return kernel;
  if (ir::is_constant(window.dilation, 1)) return ir::min(begin + kernel, size) - ir::max(begin, 0);
  // Counts the elements begin, begin + dilation, ... that are below `size`, minus those below 0.
  const auto below = [&](const Expr& end) {
    return ir::max(0, ir::min(kernel, ir::ceil_div(end - begin, window.dilation)));
  };
  return below(size) - below(0);
}

}  // namespace

Pooling pooling(Expr kernel, Expr stride, Expr padding, bool count_padding) {
  const Window window{std::move(stride), std::move(padding), 1};
  return {kernel, kernel, window, window, count_padding};
}

Tensor max_pool2d(const Tensor& x, const Pooling& shape, std::string name) {
  return pool(ir::ReduceOp::max, x, shape, name, name + ".pad");
}

Tensor avg_pool2d(const Tensor& x, const Pooling& shape, std::string name) {
  const Tensor total = pool(ir::ReduceOp::sum, x, shape, name + ".sum", name + ".pad");
  return lang::compute(
      total.shape(),
      [&](const std::vector<Expr>& i) {
        const Expr whole = shape.kernel_height * shape.kernel_width;
        const Expr partly = inside(shape.height, i[2], shape.kernel_height, x.shape()[2]) *
                            inside(shape.width, i[3], shape.kernel_width, x.shape()[3]);
        return total(i) / ir::cast(total.dtype(), shape.count_padding ? whole : partly);
      },
      std::move(name));
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
