#include "ferry/ops/blocked.h"

#include "crosscompile/ir/error.h"
#include "ferry/ops/shapes.h"
#include "host/lang/library.h"
#include "host/ops/checks.h"

namespace ferry::ops {
namespace {

using Indices = std::vector<Expr>;

void expect_lanes(std::int64_t lanes, const std::string& name) {
  if (lanes < 1)
    throw CompileError("'" + name + "': expected blocks of at least 1 channel, got " + std::to_string(lanes));
}

// Returns the number of channels in a block.
std::int64_t lanes_of(const Tensor& x, const std::string& name) {
  expect_rank(x, 5, name);
  const std::int64_t* lanes = ir::as_int(x.shape()[4]);
  if (lanes == nullptr)
    throw CompileError("'" + name + "': expected a constant number of channels in a block of '" + x.name() + "', got " +
                       shape_text(x));
  expect_lanes(*lanes, name);
  return *lanes;
}

void expect_channels(const Tensor& x, const Expr& channels, std::int64_t lanes, const std::string& name) {
  expect_same(x.shape()[1], ir::ceil_div(channels, Expr(lanes)), "the blocks of '" + x.name() + "' and of its channels",
              name);
}

// Whether `size` channels fill whole blocks.
bool fills_blocks(const Expr& size, std::int64_t lanes) { return lanes == 1 || is_multiple(size, lanes); }

// Returns the index of lane `lane` of a block, or of the last channel in lanes past `channels`.
Expr channel_at(const Expr& block, const Expr& lane, std::int64_t lanes, const Expr& channels) {
  const Expr channel = block * Expr(lanes) + lane;
  return fills_blocks(channels, lanes) ? channel : ir::min(channel, channels - 1);
}

Tensor padded_image(const Tensor& x, const std::vector<Window>& windows, const std::string& name) {
  if (!windows[0].is_padded() && !windows[1].is_padded()) return x;
  Indices before{0, 0, windows[0].padding, windows[1].padding}, after{0, 0, windows[0].after(), windows[1].after()};
  before.resize(x.rank(), 0);
  after.resize(x.rank(), 0);
  return pad(x, before, after, name + ".pad");
}

// The axes that a convolution sums over. If blocks divide the channels of a group, `channel` counts the lanes of
// `block`; otherwise it alone counts the channels, so that no lane past them is read.
struct Sum {
  Sum(const Tensor& weights, std::int64_t lanes)
      : channels(weights.shape()[1]),
        has_blocks(lanes > 1 && is_multiple(channels, lanes)),
        block(lang::reduce_axis(has_blocks ? channels / Expr(lanes) : Expr(1), "cb")),
        channel(lang::reduce_axis(has_blocks ? Expr(lanes) : channels, "c")),
        height(lang::reduce_axis(weights.shape()[2], "kh")),
        width(lang::reduce_axis(weights.shape()[3], "kw")) {}

  std::vector<lang::ReduceAxis> axes() const {
    if (has_blocks) return {block, height, width, channel};
    return {channel, height, width};
  }

  Expr channels;  // in a group
  bool has_blocks;
  lang::ReduceAxis block, channel, height, width;
};

// Packs [O, C, KH, KW] as [ceil(O / lanes), the axes of the sum..., lanes].
Tensor packed_weights(const Tensor& weights, const Sum& sum, std::int64_t lanes, const std::string& name) {
  const Expr& outputs = weights.shape()[0];
  Indices shape{ir::ceil_div(outputs, Expr(lanes))};
  for (const lang::ReduceAxis& axis : sum.axes()) shape.push_back(axis.axis().extent);
  shape.push_back(lanes);
  return lang::library::compute(
      std::move(shape),
      [&](const Indices& i) {
        const Expr output = channel_at(i[0], i.back(), lanes, outputs);
        return sum.has_blocks ? weights(output, i[1] * Expr(lanes) + i[4], i[2], i[3])
                              : weights(output, i[1], i[2], i[3]);
      },
      name + ".weights");
}

// Returns an element of the packed weights for a block and lane of outputs.
Expr weight_at(const Tensor& packed, const Expr& block, const Sum& sum, const Expr& lane) {
  Indices at{block};
  for (const lang::ReduceAxis& axis : sum.axes()) at.push_back(axis);
  at.push_back(lane);
  return packed(at);
}

// The shape of a convolution's result.
Indices result_shape(const Tensor& x, const Tensor& weights, const std::vector<Window>& windows, std::int64_t lanes) {
  return {x.shape()[0], ir::ceil_div(weights.shape()[0], Expr(lanes)),
          windows[0].output_size(x.shape()[2], weights.shape()[2]),
          windows[1].output_size(x.shape()[3], weights.shape()[3]), lanes};
}

void expect_outputs_in_groups(const Tensor& weights, std::int64_t groups, const std::string& name) {
  if (groups < 1) throw CompileError("'" + name + "': expected at least 1 group, got " + std::to_string(groups));
  const std::int64_t* outputs = ir::as_int(weights.shape()[0]);
  if (outputs != nullptr && *outputs % groups != 0)
    throw CompileError("'" + name + "': expected outputs in " + std::to_string(groups) + " equal groups, got " +
                       shape_text(weights));
}

}  // namespace

Tensor to_blocked(const Tensor& x, std::int64_t lanes, std::string name) {
  expect_rank(x, 4, name);
  expect_lanes(lanes, name);
  const Expr& channels = x.shape()[1];
  return lang::library::compute(
      {x.shape()[0], ir::ceil_div(channels, Expr(lanes)), x.shape()[2], x.shape()[3], lanes},
      [&](const Indices& i) { return x(i[0], channel_at(i[1], i[4], lanes, channels), i[2], i[3]); }, std::move(name));
}

Tensor from_blocked(const Tensor& x, Expr channels, std::string name) {
  const Expr lanes(lanes_of(x, name));
  return lang::library::compute(
      {x.shape()[0], std::move(channels), x.shape()[2], x.shape()[3]},
      [&](const Indices& i) { return x(i[0], i[1] / lanes, i[2], i[3], i[1] % lanes); }, std::move(name));
}

Tensor conv2d_blocked(const Tensor& x, const Tensor& weights, const std::vector<Window>& windows, std::string name,
                      std::int64_t groups) {
  const std::int64_t lanes = lanes_of(x, name);
  expect_rank(weights, 4, name);
  expect_two_windows(windows, name);
  expect_outputs_in_groups(weights, groups, name);
  expect_channels(x, weights.shape()[1] * Expr(groups), lanes, name);
  const Expr &outputs = weights.shape()[0], each = outputs / Expr(groups);  // outputs of a group
  const Sum sum(weights, lanes);
  const Tensor packed = packed_weights(weights, sum, lanes, name), input = padded_image(x, windows, name);
  return lang::library::compute(
      result_shape(x, weights, windows, lanes),
      [&](const Indices& i) {
        const auto seen = [&](const Expr& block, const Expr& lane) {
          return input(i[0], block, windows[0].place(i[2], sum.height), windows[1].place(i[3], sum.width), lane);
        };
        // Index of the group that lane i[4] of block i[1] is in.
        Expr group(0);
        if (groups > 1)
          group =
              fills_blocks(each, lanes) ? i[1] / (each / Expr(lanes)) : channel_at(i[1], i[4], lanes, outputs) / each;
        const Expr channel = groups > 1 ? group * sum.channels + sum.channel : Expr(sum.channel);
        const Expr block = groups > 1 ? group * (sum.channels / Expr(lanes)) + sum.block : Expr(sum.block);
        const Expr value =
            sum.has_blocks ? seen(block, sum.channel) : seen(channel / Expr(lanes), channel % Expr(lanes));
        return lang::sum(value * weight_at(packed, i[1], sum, i[4]), sum.axes());
      },
      std::move(name));
}

Tensor conv2d_to_blocked(const Tensor& x, const Tensor& weights, const std::vector<Window>& windows, std::int64_t lanes,
                         std::string name) {
  expect_rank(x, 4, name);
  expect_rank(weights, 4, name);
  expect_two_windows(windows, name);
  expect_lanes(lanes, name);
  expect_same(x.shape()[1], weights.shape()[1], "the channels of '" + x.name() + "' and '" + weights.name() + "'",
              name);
  const Sum sum(weights, 1);
  const Tensor packed = packed_weights(weights, sum, lanes, name), input = padded_image(x, windows, name);
  return lang::library::compute(
      result_shape(x, weights, windows, lanes),
      [&](const Indices& i) {
        const Expr seen =
            input(i[0], sum.channel, windows[0].place(i[2], sum.height), windows[1].place(i[3], sum.width));
        return lang::sum(seen * weight_at(packed, i[1], sum, i[4]), sum.axes());
      },
      std::move(name));
}

Tensor depthwise_conv2d_blocked(const Tensor& x, const Tensor& weights, const std::vector<Window>& windows,
                                std::string name) {
  const std::int64_t lanes = lanes_of(x, name);
  expect_rank(weights, 4, name);
  expect_two_windows(windows, name);
  expect_same(weights.shape()[1], 1, "the filters of a channel of '" + weights.name() + "' and one", name);
  expect_channels(x, weights.shape()[0], lanes, name);
  const Expr &channels = weights.shape()[0], &height = weights.shape()[2], &width = weights.shape()[3];
  const Tensor packed = lang::library::compute(
      {x.shape()[1], height, width, lanes},
      [&](const Indices& i) { return weights(channel_at(i[0], i[3], lanes, channels), 0, i[1], i[2]); },
      name + ".weights");
  const Tensor input = padded_image(x, windows, name);
  const lang::ReduceAxis kh = lang::reduce_axis(height, "kh"), kw = lang::reduce_axis(width, "kw");
  return lang::library::compute(
      result_shape(x, weights, windows, lanes),
      [&](const Indices& i) {
        const Expr seen = input(i[0], i[1], windows[0].place(i[2], kh), windows[1].place(i[3], kw), i[4]);
        return lang::sum(seen * packed(i[1], kh, kw, i[4]), {kh, kw});
      },
      std::move(name));
}

}  // namespace ferry::ops
