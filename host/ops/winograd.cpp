#include "ferry/ops/winograd.h"

#include "crosscompile/ir/error.h"
#include "host/lang/library.h"
#include "host/ops/checks.h"
#include "host/ops/winograd_transforms.h"

namespace ferry::ops {
namespace {

constexpr std::int64_t kFilter = 3;

ir::Axis axis(std::string name, Expr extent) { return {lang::var(std::move(name)), 0, std::move(extent)}; }

// Returns values[i] for the index i. Schedules unroll the index, so that only one value remains.
Expr element(const Expr& index, const std::vector<Expr>& values) {
  Expr result = values.back();
  for (std::size_t i = values.size() - 1; i-- > 0;)
    result = ir::if_then_else(index == Expr(static_cast<std::int64_t>(i)), values[i], result);
  return result;
}

// Returns the value, or 0 unless all conditions hold.
Expr value_if(const std::vector<Expr>& conditions, const Expr& value) {
  if (conditions.empty()) return value;
  return ir::if_then_else(lang::all_of(conditions), value, ir::constant(value.type(), std::int64_t{0}));
}

class Winograd {
 public:
  Winograd(const Tensor& x, const Tensor& weights, const std::vector<Window>& windows, std::int64_t tile,
           std::string name)
      : x_(x), weights_(weights), name_(std::move(name)), tile_(tile), points_(tile + kFilter - 1) {
    check(windows);
    lanes_ = *ir::as_int(x.shape()[4]);
    for (std::size_t d = 0; d < 2; ++d) {
      padding_[d] = windows[d].padding;
      results_[d] = windows[d].output_size(x.shape()[d + 2], kFilter);
      tiles_[d] = ir::ceil_div(results_[d], Expr(tile));
    }
    blocks_ = x.shape()[1];
    result_blocks_ = ir::ceil_div(weights.shape()[0], Expr(lanes_));
  }

  Tensor result() const {
    const Tensor rows = product_rows(products(transformed_input(), transformed_weights()));
    const ir::Axis n = axis("n", x_.shape()[0]), ob = axis("ob", result_blocks_), h = axis("h", results_[0]),
                   w = axis("w", results_[1]), v = axis("v", lanes_);
    const Expr size(tile_);
    const std::vector<Expr> values = transform_products(tile_, [&](std::int64_t nu) {
      return rows(n.var, ob.var, h.var / size, w.var / size, h.var % size, Expr(nu), v.var);
    });
    return stage({n, ob, h, w, v}, element(w.var % size, values), "");
  }

 private:
  void check(const std::vector<Window>& windows) const {
    expect_rank(x_, 5, name_);
    expect_rank(weights_, 4, name_);
    if (tile_ != 2 && tile_ != 4)
      throw CompileError("'" + name_ + "': expected tiles of 2 or 4, got " + std::to_string(tile_));
    if (!is_float(x_.dtype()) || x_.dtype() != weights_.dtype())
      throw CompileError("'" + name_ + "': expected '" + x_.name() + "' and '" + weights_.name() +
                         "' to be floats of one type, got " + dtype_name(x_.dtype()) + " and " +
                         dtype_name(weights_.dtype()));
    const std::int64_t* lanes = ir::as_int(x_.shape()[4]);
    if (lanes == nullptr || *lanes < 1)
      throw CompileError("'" + name_ + "': expected blocks of a constant number of channels, got " + shape_text(x_));
    if (!ir::is_constant(weights_.shape()[2], kFilter) || !ir::is_constant(weights_.shape()[3], kFilter))
      throw CompileError("'" + name_ + "': expected 3x3 weights, got " + shape_text(weights_));
    expect_same(x_.shape()[1], ir::ceil_div(weights_.shape()[1], Expr(*lanes)),
                "the blocks of channels of '" + x_.name() + "' and '" + weights_.name() + "'", name_);
    if (windows.size() != 2)
      throw CompileError("'" + name_ + "': expected the windows of 2 dimensions, got " +
                         std::to_string(windows.size()));
    for (const Window& window : windows)
      if (!ir::is_constant(window.stride, 1) || !ir::is_constant(window.dilation, 1))
        throw CompileError("'" + name_ + "': expected strides and dilations of 1");
  }

  Tensor stage(std::vector<ir::Axis> axes, Expr value, const char* suffix) const {
    return lang::library::compute_over(std::move(axes), {std::move(value)}, name_ + suffix)[0];
  }

  // U = G w G^T for each pair of channels; 0 for those past the last ones.
  Tensor transformed_weights() const {
    const ir::Axis xi = axis("xi", points_), nu = axis("nu", points_), s = axis("s", kFilter),
                   ob = axis("ob", result_blocks_), cb = axis("cb", blocks_), u = axis("u", lanes_),
                   v = axis("v", lanes_);
    const Expr o = ob.var * Expr(lanes_) + v.var, c = cb.var * Expr(lanes_) + u.var;
    std::vector<Expr> exists;
    if (!is_multiple(weights_.shape()[0], lanes_)) exists.push_back(o < weights_.shape()[0]);
    if (!is_multiple(weights_.shape()[1], lanes_)) exists.push_back(c < weights_.shape()[1]);
    const std::vector<Expr> rows =
        transform_weights(tile_, [&](std::int64_t r) { return value_if(exists, weights_(o, c, Expr(r), s.var)); });
    const Tensor half = stage({xi, s, ob, cb, u, v}, element(xi.var, rows), ".weight_rows");
    const std::vector<Expr> columns =
        transform_weights(tile_, [&](std::int64_t k) { return half(xi.var, Expr(k), ob.var, cb.var, u.var, v.var); });
    return stage({xi, nu, ob, cb, u, v}, element(nu.var, columns), ".weights");
  }

  // V = B^T d B for each tile and channel.
  Tensor transformed_input() const {
    const ir::Axis n = axis("n", x_.shape()[0]), cb = axis("cb", blocks_), ty = axis("ty", tiles_[0]),
                   tx = axis("tx", tiles_[1]), xi = axis("xi", points_), nu = axis("nu", points_),
                   j = axis("j", points_), u = axis("u", lanes_);
    const std::vector<Expr> rows = transform_input(tile_, [&](std::int64_t i) {
      return padded(n.var, cb.var, ty.var * Expr(tile_) + Expr(i) - padding_[0],
                    tx.var * Expr(tile_) + j.var - padding_[1], u.var);
    });
    const Tensor half = stage({n, cb, ty, tx, xi, j, u}, element(xi.var, rows), ".input_rows");
    const std::vector<Expr> columns = transform_input(
        tile_, [&](std::int64_t k) { return half(n.var, cb.var, ty.var, tx.var, xi.var, Expr(k), u.var); });
    return stage({xi, nu, n, cb, ty, tx, u}, element(nu.var, columns), ".input");
  }

  // Returns an element of the input; 0 outside of the image and past the last channel.
  Expr padded(const Expr& n, const Expr& block, const Expr& h, const Expr& w, const Expr& u) const {
    std::vector<Expr> exists;
    if (!is_multiple(weights_.shape()[1], lanes_)) exists.push_back(block * Expr(lanes_) + u < weights_.shape()[1]);
    const Expr value = value_if(exists, x_(n, block, h, w, u));
    return value_if({h >= 0, h < x_.shape()[2]}, value_if({w >= 0, w < x_.shape()[3]}, value));
  }

  Tensor products(const Tensor& input, const Tensor& weights) const {
    const ir::Axis xi = axis("xi", points_), nu = axis("nu", points_), n = axis("n", x_.shape()[0]),
                   ob = axis("ob", result_blocks_), ty = axis("ty", tiles_[0]), tx = axis("tx", tiles_[1]),
                   v = axis("v", lanes_);
    const lang::ReduceAxis cb = lang::reduce_axis(blocks_, "cb"), u = lang::reduce_axis(lanes_, "u");
    return stage(
        {xi, nu, n, ob, ty, tx, v},
        lang::sum(input(xi.var, nu.var, n.var, cb, ty.var, tx.var, u) * weights(xi.var, nu.var, ob.var, cb, u, v.var),
                  {cb, u}),
        ".products");
  }

  // A^T M, the first half of A^T M A.
  Tensor product_rows(const Tensor& products) const {
    const ir::Axis n = axis("n", x_.shape()[0]), ob = axis("ob", result_blocks_), ty = axis("ty", tiles_[0]),
                   tx = axis("tx", tiles_[1]), k = axis("k", tile_), nu = axis("nu", points_), v = axis("v", lanes_);
    const std::vector<Expr> rows = transform_products(
        tile_, [&](std::int64_t xi) { return products(Expr(xi), nu.var, n.var, ob.var, ty.var, tx.var, v.var); });
    return stage({n, ob, ty, tx, k, nu, v}, element(k.var, rows), ".product_rows");
  }

  const Tensor &x_, &weights_;
  std::string name_;
  std::int64_t tile_, points_, lanes_ = 0;  // lanes: channels in a block
  Expr padding_[2], results_[2], tiles_[2], blocks_, result_blocks_;
};

}  // namespace

Tensor winograd_conv2d_blocked(const Tensor& x, const Tensor& weights, const std::vector<Window>& windows,
                               std::int64_t tile, std::string name) {
  return Winograd(x, weights, windows, tile, std::move(name)).result();
}

double winograd_error_factor(std::int64_t tile) { return tile == 2 ? 16 : 287; }

}  // namespace ferry::ops
