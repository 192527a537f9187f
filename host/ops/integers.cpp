#include "ferry/ops/integers.h"

#include "crosscompile/ir/error.h"
#include "ferry/ops/blocked.h"
#include "ferry/ops/shapes.h"
#include "host/lang/library.h"
#include "host/ops/checks.h"
#include "host/ops/integer_factors.h"

#include <numeric>

namespace ferry::ops {
namespace {

using Places = std::vector<Expr>;

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
  std::int64_t lanes, group;  // the image's
};

// Packs weights [O, C, KH, KW] as [ceil(O / lanes), C', KH, KW, groups, lanes, channels of a group]. Channels past C,
// whose values in the image are unspecified, have weights of 0.
Tensor grouped_weights(const Tensor& weights, const IntegerProducts& products, const GroupedSum& sum,
                       std::int64_t lanes, const std::string& name) {
  const Expr &outputs = weights.shape()[0], &channels = weights.shape()[1];
  return lang::library::compute(
      {ir::ceil_div(outputs, Expr(lanes)), sum.block.axis().extent, weights.shape()[2], weights.shape()[3],
       sum.lanes / sum.group, lanes, sum.group},
      [&](const Places& i) {
        const Expr output = ir::min(i[0] * Expr(lanes) + i[5], outputs - 1);
        const Expr channel = i[1] * Expr(sum.lanes) + i[4] * Expr(sum.group) + i[6];
        const Expr weight = factor_of(weights(output, ir::min(channel, channels - 1), i[2], i[3]), products);
        return ir::select(channel < channels, weight, ir::constant(weight.type(), std::int64_t{0}));
      },
      name + ".weights");
}

// Convolves an image in blocks to one in blocks of `lanes`.
Tensor grouped_convolution(const Tensor& x, const Tensor& weights, const Expr& zero_point,
                           const std::vector<Window>& windows, std::int64_t lanes, const GroupedSum& sum,
                           const IntegerProducts& how, const std::string& name) {
  const bool is_centered = how.factors == IntegerFactors::int16;
  const Tensor packed = grouped_weights(weights, how, sum, lanes, name);
  const auto [image, zero] = factors_of(x, zero_point, how.factors, name);
  const Tensor input = padded_with(image, windows, zero, name);
  const auto weight_at = [&](const Expr& block, const Expr& lane) {
    return as_int32(packed(block, sum.block, sum.height, sum.width, sum.outer, lane, sum.inner));
  };
  const Tensor products = lang::library::compute(
      {x.shape()[0], packed.shape()[0], windows[0].output_size(x.shape()[2], weights.shape()[2]),
       windows[1].output_size(x.shape()[3], weights.shape()[3]), lanes},
      [&](const Places& i) {
        const Expr seen =
            input(i[0], sum.block, windows[0].place(i[2], sum.height), windows[1].place(i[3], sum.width), sum.lane());
        return lang::sum(as_int32(seen) * weight_at(i[1], i[4]), sum.axes());
      },
      is_centered ? name : name + ".products");
  if (is_centered) return products;
  const Tensor totals = lang::library::compute(
      {packed.shape()[0], lanes}, [&](const Places& i) { return lang::sum(weight_at(i[0], i[1]), sum.axes()); },
      name + ".totals");
  return without_offsets(products, totals, zero, name);
}

void expect_operands(const Tensor& x, const Tensor& weights, const std::vector<Window>& windows, std::int64_t lanes,
                     const IntegerProducts& products, const std::string& name) {
  expect_rank(weights, 4, name);
  expect_integer_types(x, weights, products, name);
  expect_two_windows(windows, name);
  if (products.group < 1 || lanes < 1 || lanes % products.group != 0)
    throw CompileError("'" + name + "': expected groups that divide blocks of " + std::to_string(lanes) +
                       " channels, got groups of " + std::to_string(products.group));
}

}  // namespace

Tensor integer_conv2d_blocked(const Tensor& x, const Tensor& weights, const Expr& zero_point,
                              const std::vector<Window>& windows, const IntegerProducts& products, std::string name) {
  const std::int64_t lanes = channels_in_block(x, name);
  expect_operands(x, weights, windows, lanes, products, name);
  const GroupedSum sum(weights, lanes, products.group);
  expect_same(x.shape()[1], sum.block.axis().extent, "the blocks of '" + x.name() + "' and of its channels", name);
  return grouped_convolution(x, weights, zero_point, windows, lanes, sum, products, name);
}

Tensor integer_conv2d_to_blocked(const Tensor& x, const Tensor& weights, const Expr& zero_point,
                                 const std::vector<Window>& windows, std::int64_t lanes,
                                 const IntegerProducts& products, std::string name) {
  expect_rank(x, 4, name);
  expect_operands(x, weights, windows, products.group, products, name);
  expect_same(x.shape()[1], weights.shape()[1], "the channels of '" + x.name() + "' and '" + weights.name() + "'",
              name);
  // Colours fill one block of four.
  const std::int64_t block = products.group == 2 ? 4 : products.group;
  return grouped_convolution(to_blocked(x, block, name + ".pixels"), weights, zero_point, windows, lanes,
                             GroupedSum(weights, block, products.group), products, name);
}

Tensor integer_matmul(const Tensor& a, const Tensor& weights, const Expr& zero_point, bool is_transposed,
                      std::int64_t lanes, const IntegerProducts& products, std::string name) {
  expect_rank(weights, 2, name);
  expect_integer_types(a, weights, products, name);
  if (a.rank() < 2 || products.group < 1 || lanes < 1)
    throw CompileError("'" + name + "': expected a matrix, and vectors and groups of at least one element, got " +
                       shape_text(a) + ", " + std::to_string(lanes) + " and " + std::to_string(products.group));
  const Expr &depth = weights.shape()[is_transposed ? 1 : 0], &columns = weights.shape()[is_transposed ? 0 : 1];
  expect_same(a.shape().back(), depth, "the depths of '" + a.name() + "' and '" + weights.name() + "'", name);
  const bool is_centered = products.factors == IntegerFactors::int16;
  // Two groups are added up at once where no weight is -128.
  const std::int64_t step = std::lcm(products.group * (products.weights_above_minimum ? 2 : 1), products.step);
  const Expr group(products.group), vector(lanes),
      groups = ir::ceil_div(depth, Expr(step)) * Expr(step / products.group);
  const Tensor packed = lang::library::compute(
      {ir::ceil_div(columns, vector), groups, lanes, products.group},
      [&](const Places& i) {
        const Expr column = ir::min(i[0] * vector + i[2], columns - 1), k = i[1] * group + i[3],
                   row = ir::min(k, depth - 1);
        const Expr weight = factor_of(is_transposed ? weights(column, row) : weights(row, column), products);
        return ir::select(k < depth, weight, ir::constant(weight.type(), std::int64_t{0}));
      },
      name + ".weights");
  const auto [rows, zero] = factors_of(a, zero_point, products.factors, name);
  Tensor input = rows;
  if (!is_multiple(depth, step)) {
    std::vector<Expr> before(a.rank(), Expr(0)), after = before;
    after.back() = groups * group - depth;
    input = pad(rows, before, after, name + ".pad");
  }
  const lang::ReduceAxis outer = lang::reduce_axis(groups, "kg"), inner = lang::reduce_axis(products.group, "k");
  const auto weight_at = [&](const Expr& block, const Expr& lane) {
    return as_int32(packed(block, outer, lane, inner));
  };
  Places shape(a.shape().begin(), a.shape().end() - 1);
  shape.insert(shape.end(), {packed.shape()[0], vector});
  const Tensor sums = lang::library::compute(
      shape,
      [&](const Places& i) {
        Places at(i.begin(), i.end() - 2);
        at.push_back(Expr(outer) * group + inner);
        return lang::sum(as_int32(input(at)) * weight_at(i[i.size() - 2], i.back()), {outer, inner});
      },
      name + ".products");
  const Tensor totals = lang::library::compute(
      {packed.shape()[0], lanes}, [&](const Places& i) { return lang::sum(weight_at(i[0], i[1]), {outer, inner}); },
      name + ".totals");
  const Tensor offsets = lang::library::compute(
      {packed.shape()[0], lanes}, [&](const Places& i) { return totals(i) * as_int32(zero); }, name + ".offsets");
  Places result(a.shape().begin(), a.shape().end() - 1);
  result.push_back(columns);
  return lang::library::compute(
      result,
      [&](const Places& i) {
        Places at(i.begin(), i.end() - 1);
        const Expr block = i.back() / vector, lane = i.back() % vector;
        at.insert(at.end(), {block, lane});
        return is_centered ? sums(at) : sums(at) - offsets(block, lane);
      },
      name);
}

}  // namespace ferry::ops
