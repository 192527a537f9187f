#include "ferry/ops/blocked_convolution.h"

#include "crosscompile/ir/error.h"
#include "ferry/ops/shapes.h"
#include "host/ops/checks.h"

namespace ferry::ops {
namespace {

void expect_block(std::int64_t block, const std::string& name) {
  if (block < 1)
    throw CompileError("'" + name + "': expected blocks of at least 1 channel, got " + std::to_string(block));
}

bool divides(std::int64_t block, const Expr& size) {
  const std::int64_t* constant = ir::as_int(size);
  return block == 1 || (constant != nullptr && *constant % block == 0);
}

}  // namespace

Tensor pack_nchwc(const Tensor& x, std::int64_t block, std::string name) {
  expect_rank(x, 4, name);
  expect_block(block, name);
  const Expr each(block), &channels = x.shape()[1];
  const Expr zero = ir::constant(ir::Type(x.dtype()), std::int64_t{0});
  return lang::compute(
      {x.shape()[0], ir::ceil_div(channels, each), x.shape()[2], x.shape()[3], each},
      [&](const std::vector<Expr>& i) {
        const Expr channel = i[1] * each + i[4], value = x(i[0], channel, i[2], i[3]);
        return divides(block, channels) ? value : ir::if_then_else(channel < channels, value, zero);
      },
      std::move(name));
}

Tensor unpack_nchwc(const Tensor& x, Expr channels, std::string name) {
  expect_rank(x, 5, name);
  return lang::compute(
      {x.shape()[0], std::move(channels), x.shape()[2], x.shape()[3]},
      [&](const std::vector<Expr>& i) {
        const Expr& block = x.shape()[4];
        return x(i[0], i[1] / block, i[2], i[3], i[1] % block);
      },
      std::move(name));
}

Tensor pack_filters(const Tensor& kernel, std::int64_t inputs, std::int64_t outputs, std::string name) {
  expect_rank(kernel, 4, name);
  expect_block(inputs, name);
  expect_block(outputs, name);
  const Expr in(inputs), out(outputs), zero = ir::constant(ir::Type(kernel.dtype()), std::int64_t{0});
  const Expr &filters = kernel.shape()[0], &channels = kernel.shape()[1];
  return lang::compute(
      {ir::ceil_div(filters, out), ir::ceil_div(channels, in), kernel.shape()[2], kernel.shape()[3], in, out},
      [&](const std::vector<Expr>& i) {
        const Expr o = i[0] * out + i[5], c = i[1] * in + i[4], value = kernel(o, c, i[2], i[3]);
        std::vector<Expr> exists;
        if (!divides(outputs, filters)) exists.push_back(o < filters);
        if (!divides(inputs, channels)) exists.push_back(c < channels);
        return exists.empty() ? value : ir::if_then_else(lang::all_of(exists), value, zero);
      },
      std::move(name));
}

Tensor conv2d_nchwc(const Tensor& x, const Tensor& kernel, const Convolution& shape, std::string name) {
  expect_rank(x, 5, name);
  expect_rank(kernel, 6, name);
  if (shape.groups != 1) throw CompileError("'" + name + "': expected 1 group, got " + std::to_string(shape.groups));
  const std::string both = "'" + x.name() + "' and '" + kernel.name() + "'";
  expect_same(x.shape()[1], kernel.shape()[1], "the blocks of channels of " + both, name);
  expect_same(x.shape()[4], kernel.shape()[4], "the channels in a block of " + both, name);
  Tensor input = x;
  if (!ir::is_constant(shape.height.padding, 0) || !ir::is_constant(shape.width.padding, 0)) {
    const std::vector<Expr> around{0, 0, shape.height.padding, shape.width.padding, 0};
    input = pad(x, around, around, name + ".pad");
  }
  const lang::ReduceAxis co = lang::reduce_axis(kernel.shape()[1], "co"),
                         kh = lang::reduce_axis(kernel.shape()[2], "kh"),
                         kw = lang::reduce_axis(kernel.shape()[3], "kw"),
                         ci = lang::reduce_axis(kernel.shape()[4], "ci");
  return lang::compute(
      {x.shape()[0], kernel.shape()[0], shape.height.output_size(x.shape()[2], kernel.shape()[2]),
       shape.width.output_size(x.shape()[3], kernel.shape()[3]), kernel.shape()[5]},
      [&](const std::vector<Expr>& i) {
        const Expr seen = input(i[0], co, shape.height.place(i[2], kh), shape.width.place(i[3], kw), ci);
        return lang::sum(seen * kernel(i[1], co, kh, kw, ci, i[4]), {co, kh, kw, ci});
      },
      std::move(name));
}

}  // namespace ferry::ops
