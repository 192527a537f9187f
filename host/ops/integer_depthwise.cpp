#include "crosscompile/ir/error.h"
#include "ferry/ops/integers.h"
#include "ferry/ops/shapes.h"
#include "host/lang/library.h"
#include "host/ops/checks.h"
#include "host/ops/integer_factors.h"

namespace ferry::ops {
namespace {

using Places = std::vector<Expr>;

// The element of a window that is element `tap` of it in row-major order.
struct Tap {
  Expr row, column;
};

Tap tap_at(const Expr& tap, const Expr& width) { return {tap / width, tap % width}; }

}  // namespace

Tensor integer_depthwise_conv2d_blocked(const Tensor& x, const Tensor& weights, const Expr& zero_point,
                                        const std::vector<Window>& windows, const IntegerProducts& products,
                                        std::string name) {
  const std::int64_t lanes = channels_in_block(x, name);
  expect_rank(weights, 4, name);
  expect_integer_types(x, weights, products, name);
  expect_two_windows(windows, name);
  expect_same(weights.shape()[1], 1, "the filters of a channel of '" + weights.name() + "' and one", name);
  expect_same(x.shape()[1], ir::ceil_div(weights.shape()[0], Expr(lanes)),
              "the blocks of '" + x.name() + "' and of its channels", name);
  const Expr &channels = weights.shape()[0], &height = weights.shape()[2], &width = weights.shape()[3];
  const auto [image, zero] = factors_of(x, zero_point, products.factors, name);
  const Tensor packed = lang::library::compute(
      {x.shape()[1], height, width, lanes},
      [&](const Places& i) {
        const Expr channel = ir::min(i[0] * Expr(lanes) + i[3], channels - 1);
        return factor_of(weights(channel, 0, i[1], i[2]), products);
      },
      name + ".weights");
  const Tensor input = padded_with(image, windows, zero, name);
  // Two products of int8, each with a weight above -128, are at most 2 * 128 * 127 together.
  const bool in_pairs = products.group == 2 && products.weights_above_minimum && image.dtype() == DType::i8 &&
                        ir::as_int(width) != nullptr;
  const Expr taps = height * width;
  const lang::ReduceAxis kh = lang::reduce_axis(height, "kh"), kw = lang::reduce_axis(width, "kw"),
                         pair = lang::reduce_axis(ir::ceil_div(taps, Expr(2)), "taps");
  const Tensor sums = lang::library::compute(
      {x.shape()[0], x.shape()[1], windows[0].output_size(x.shape()[2], height),
       windows[1].output_size(x.shape()[3], width), lanes},
      [&](const Places& i) {
        const auto product = [&](const Tap& tap, DType type) {
          const Expr seen =
              input(i[0], i[1], windows[0].place(i[2], tap.row), windows[1].place(i[3], tap.column), i[4]);
          return ir::cast(type, seen) * ir::cast(type, packed(i[1], tap.row, tap.column, i[4]));
        };
        if (!in_pairs) return lang::sum(product({kh, kw}, DType::i32), {kh, kw});
        const Expr first = Expr(pair) * Expr(2), second = ir::min(first + 1, taps - 1);
        const Expr one = product(tap_at(first, width), DType::i16), two = product(tap_at(second, width), DType::i16);
        const Expr none = ir::constant(DType::i16, std::int64_t{0});
        return lang::sum(as_int32(one + ir::select(first + 1 < taps, two, none)), {pair});
      },
      products.factors == IntegerFactors::int16 ? name : name + ".products");
  if (products.factors == IntegerFactors::int16) return sums;
  const Tensor totals = lang::library::compute(
      {packed.shape()[0], lanes},
      [&](const Places& i) { return lang::sum(as_int32(packed(i[0], kh, kw, i[1])), {kh, kw}); }, name + ".totals");
  return without_offsets(sums, totals, zero, name);
}

}  // namespace ferry::ops
