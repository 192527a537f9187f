#include "ferry/ops/integers.h"

#include "crosscompile/ir/error.h"
#include "ferry/ops/blocked.h"
#include "ferry/ops/shapes.h"
#include "host/ops/checks.h"

namespace ferry::ops {
namespace {

using Places = std::vector<Expr>;

Expr as_int32(const Expr& value) { return ir::cast(DType::i32, value); }

// The axes that a sum goes over: blocks of channels, the window, groups of channels in a block, channels in a group.
struct GroupedSum {
  GroupedSum(const Tensor& weights, std::int64_t channels_in_block, std::int64_t channels_in_group)
      : block(lang::reduce_axis(ir::ceil_div(weights.shape()[1], Expr(channels_in_block)), "cb")),
        height(lang::reduce_axis(weights.shape()[2], "kh")),
        width(lang::reduce_axis(weights.shape()[3], "kw")),
        outer(lang::reduce_axis(channels_in_block / channels_in_group, "cg")),
        inner(lang::reduce_axis(channels_in_group, "c")),
        lanes(channels_in_block),
        group(channels_in_group) {}

  std::vector<lang::ReduceAxis> axes() const { return {block, height, width, outer, inner}; }
  Expr lane() const { return outer * Expr(group) + inner; }

  lang::ReduceAxis block, height, width, outer, inner;
  std::int64_t lanes, group;  // of the image
};

// Packs weights [O, C, KH, KW] as [ceil(O / lanes), C', KH, KW, groups, lanes, channels of a group]. Channels past C,
// whose values in the image are unspecified, have weights of 0.
Tensor grouped_weights(const Tensor& weights, const GroupedSum& sum, std::int64_t lanes, const std::string& name) {
  const Expr &outputs = weights.shape()[0], &channels = weights.shape()[1];
  return lang::compute(
      {ir::ceil_div(outputs, Expr(lanes)), sum.block.axis().extent, weights.shape()[2], weights.shape()[3],
       sum.lanes / sum.group, lanes, sum.group},
      [&](const Places& i) {
        const Expr output = ir::min(i[0] * Expr(lanes) + i[5], outputs - 1);
        const Expr channel = i[1] * Expr(sum.lanes) + i[4] * Expr(sum.group) + i[6];
        const Expr weight = weights(output, ir::min(channel, channels - 1), i[2], i[3]);
        return ir::select(channel < channels, weight, ir::constant(weight.type(), std::int64_t{0}));
      },
      name + ".weights");
}

// Convolves an image in blocks to one in blocks of `lanes`.
Tensor grouped_convolution(const Tensor& x, const Tensor& weights, const Expr& zero_point,
                           const std::vector<Window>& windows, std::int64_t lanes, const GroupedSum& sum,
                           const std::string& name) {
  const Tensor packed = grouped_weights(weights, sum, lanes, name);
  Tensor input = x;
  if (windows[0].is_padded() || windows[1].is_padded())
    input = pad(x, {0, 0, windows[0].padding, windows[1].padding, 0}, {0, 0, windows[0].after(), windows[1].after(), 0},
                name + ".pad", zero_point);
  const auto weight_at = [&](const Expr& block, const Expr& lane) {
    return as_int32(packed(block, sum.block, sum.height, sum.width, sum.outer, lane, sum.inner));
  };
  const Tensor totals = lang::compute(
      {packed.shape()[0], lanes}, [&](const Places& i) { return lang::sum(weight_at(i[0], i[1]), sum.axes()); },
      name + ".totals");
  const Tensor offsets = lang::compute(
      {packed.shape()[0], lanes}, [&](const Places& i) { return totals(i) * as_int32(zero_point); }, name + ".offsets");
  const Tensor products = lang::compute(
      {x.shape()[0], packed.shape()[0], windows[0].output_size(x.shape()[2], weights.shape()[2]),
       windows[1].output_size(x.shape()[3], weights.shape()[3]), lanes},
      [&](const Places& i) {
        const Expr seen =
            input(i[0], sum.block, windows[0].place(i[2], sum.height), windows[1].place(i[3], sum.width), sum.lane());
        return lang::sum(as_int32(seen) * weight_at(i[1], i[4]), sum.axes());
      },
      name + ".products");
  return lang::compute(products.shape(), [&](const Places& i) { return products(i) - offsets(i[1], i[4]); }, name);
}

void expect_operands(const Tensor& x, const Tensor& weights, const std::vector<Window>& windows, std::int64_t lanes,
                     std::int64_t group, const std::string& name) {
  expect_rank(weights, 4, name);
  if ((x.dtype() != DType::u8 && x.dtype() != DType::i8) || weights.dtype() != DType::i8)
    throw CompileError("'" + name + "': expected an image of uint8 or int8 and weights of int8, got " +
                       dtype_name(x.dtype()) + " and " + dtype_name(weights.dtype()));
  if (windows.size() != 2)
    throw CompileError("'" + name + "': expected a window for the height and one for the width, got " +
                       std::to_string(windows.size()));
  if (group < 1 || lanes < 1 || lanes % group != 0)
    throw CompileError("'" + name + "': expected groups that divide blocks of " + std::to_string(lanes) +
                       " channels, got groups of " + std::to_string(group));
}

}  // namespace

Tensor integer_conv2d_blocked(const Tensor& x, const Tensor& weights, const Expr& zero_point,
                              const std::vector<Window>& windows, std::int64_t group, std::string name) {
  expect_rank(x, 5, name);
  const std::int64_t* lanes = ir::as_int(x.shape()[4]);
  if (lanes == nullptr)
    throw CompileError("'" + name + "': expected a constant number of channels in a block of '" + x.name() + "', got " +
                       shape_text(x));
  expect_operands(x, weights, windows, *lanes, group, name);
  const GroupedSum sum(weights, *lanes, group);
  expect_same(x.shape()[1], sum.block.axis().extent, "the blocks of '" + x.name() + "' and of its channels", name);
  return grouped_convolution(x, weights, zero_point, windows, *lanes, sum, name);
}

Tensor integer_conv2d_to_blocked(const Tensor& x, const Tensor& weights, const Expr& zero_point,
                                 const std::vector<Window>& windows, std::int64_t lanes, std::int64_t group,
                                 std::string name) {
  expect_rank(x, 4, name);
  expect_operands(x, weights, windows, group, group, name);
  expect_same(x.shape()[1], weights.shape()[1], "the channels of '" + x.name() + "' and '" + weights.name() + "'",
              name);
  return grouped_convolution(to_blocked(x, group, name + ".pixels"), weights, zero_point, windows, lanes,
                             GroupedSum(weights, group, group), name);
}

}  // namespace ferry::ops
