#include "ferry/ops/reductions.h"

#include "crosscompile/ir/error.h"
#include "ferry/lang/user_reducer.h"
#include "ferry/ops/elementwise.h"
#include "host/lang/library.h"
#include "host/ops/checks.h"
#include "host/ops/invert.h"
#include "host/ops/softmax_parts.h"

#include <algorithm>

namespace ferry::ops {
namespace {

void check_dimensions(const Tensor& x, std::vector<std::size_t>& dimensions, const std::string& name) {
  if (dimensions.empty()) {
    for (std::size_t d = 0; d < x.rank(); ++d) dimensions.push_back(d);
  }
  std::sort(dimensions.begin(), dimensions.end());
  const bool twice = std::adjacent_find(dimensions.begin(), dimensions.end()) != dimensions.end();
  if (dimensions.empty() || twice || dimensions.back() >= x.rank()) {
    throw CompileError("'" + name + "': expected different dimensions of '" + x.name() + "' " + shape_text(x) +
                       " to reduce");
  }
}

// The loops of a reduction over chosen dimensions of a tensor.
struct Over {
  Over(const Tensor& tensor, const std::vector<std::size_t>& dimensions, bool keep_dimensions)
      : x(tensor), reduced(tensor.rank()), keep(keep_dimensions) {
    for (const std::size_t d : dimensions) reduced[d] = true;
    for (std::size_t d = 0; d < x.rank(); ++d) {
      if (reduced[d]) axes.push_back(lang::reduce_axis(x.shape()[d], "k" + std::to_string(d)));
      if (!reduced[d]) shape.push_back(x.shape()[d]);
      if (reduced[d] && keep) shape.emplace_back(1);
    }
  }

  // Returns the tensor's element at an index of the result and a point of the axes.
  Expr element(const std::vector<Expr>& i) const {
    std::vector<Expr> at;
    std::size_t axis = 0, next = 0;
    for (std::size_t d = 0; d < x.rank(); ++d) {
      at.push_back(reduced[d] ? Expr(axes[axis++]) : i[next]);
      if (!reduced[d] || keep) ++next;
    }
    return x(at);
  }

  // Returns the row-major position of a point among all points of the axes.
  Expr position() const {
    Expr place(axes[0]);
    for (std::size_t a = 1; a < axes.size(); ++a) place = place * axes[a].axis().extent + Expr(axes[a]);
    return place;
  }

  const Tensor& x;
  std::vector<bool> reduced;
  bool keep;
  std::vector<Expr> shape;
  std::vector<lang::ReduceAxis> axes;
};

using ArgOver = std::vector<Expr> (*)(Expr, Expr, const std::vector<lang::ReduceAxis>&, Expr);

Tensor place_of(ArgOver find, const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep) {
  check_dimensions(x, dimensions, name);
  const Over over(x, dimensions, keep);
  return lang::library::compute(
      over.shape, [&](const std::vector<Expr>& i) { return find(over.element(i), over.position(), over.axes, {})[1]; },
      std::move(name));
}

bool is_narrow(const Tensor& x) { return ir::Type(x.dtype()).is_narrow_float(); }

// Returns x in the type in which means are computed: a total in float16 overflows at 65,504, long before its mean does.
Tensor as_wide_floats(const Tensor& x, const std::string& name) {
  return is_float(x.dtype()) && !is_narrow(x) ? x : cast(x, DType::f32, name + ".float");
}

// Rounds a mean of x to its own type, if that is a narrow one.
Expr as_mean_of(const Tensor& x, const Expr& value) { return is_narrow(x) ? ir::cast(x.dtype(), value) : value; }

}  // namespace

Tensor reduce(ir::ReduceOp op, const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep) {
  check_dimensions(x, dimensions, name);
  const Over over(x, dimensions, keep);
  return lang::library::compute(
      over.shape, [&](const std::vector<Expr>& i) { return lang::reduce(op, over.element(i), over.axes); },
      std::move(name));
}

Tensor sum(const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep) {
  return reduce(ir::ReduceOp::sum, x, std::move(dimensions), std::move(name), keep);
}
Tensor prod(const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep) {
  return reduce(ir::ReduceOp::prod, x, std::move(dimensions), std::move(name), keep);
}
Tensor max(const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep) {
  return reduce(ir::ReduceOp::max, x, std::move(dimensions), std::move(name), keep);
}
Tensor min(const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep) {
  return reduce(ir::ReduceOp::min, x, std::move(dimensions), std::move(name), keep);
}

Tensor mean(const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep) {
  check_dimensions(x, dimensions, name);
  Expr count(1);
  for (const std::size_t d : dimensions) count = count * x.shape()[d];
  const Tensor total = sum(as_wide_floats(x, name), dimensions, name + ".sum", keep);
  return map(
      total, [&](const Expr& value) { return as_mean_of(x, value / ir::cast(value.type().code, count)); },
      std::move(name));
}

Tensor argmax(const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep) {
  return place_of(lang::argmax_over, x, std::move(dimensions), std::move(name), keep);
}
Tensor argmin(const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep) {
  return place_of(lang::argmin_over, x, std::move(dimensions), std::move(name), keep);
}

Moments mean_variance(const Tensor& x, std::vector<std::size_t> dimensions, const std::string& name, bool keep) {
  check_dimensions(x, dimensions, name);
  const Tensor values = as_wide_floats(x, name);
  const Over over(values, dimensions, keep);
  const std::vector<Tensor> parts = lang::library::compute_all(
      over.shape, [&](const std::vector<Expr>& i) { return lang::moments_over(over.element(i), over.axes); },
      name + ".moments");
  const Tensor &count = parts[0], &squares = parts[2];
  const Tensor variance = lang::library::compute(
      over.shape, [&](const std::vector<Expr>& i) { return as_mean_of(x, squares(i) / count(i)); }, name + ".variance");
  return {is_narrow(x) ? cast(parts[1], x.dtype(), name + ".mean") : parts[1], variance};
}

Tensor row_sum(const Tensor& x, std::string name) {
  expect_rank(x, 2, name);
  return sum(x, {1}, std::move(name));
}

namespace {

// Returns exp(x - the largest element of the row).
Tensor raised_of(const Tensor& x, std::size_t dimension, const std::string& name) {
  return broadcast(
      x, max(x, {dimension}, name + ".max", true),
      [](const Expr& value, const Expr& most) { return ir::call_math("exp", {value - most}); }, name + ".exp");
}

}  // namespace

SoftmaxParts softmax_parts(const Tensor& x, std::size_t dimension, const std::string& name) {
  const Tensor raised = raised_of(x, dimension, name);
  return {raised, invert(sum(raised, {dimension}, name + ".sum", true), name + ".inverse")};
}

Tensor softmax(const Tensor& x, std::size_t dimension, std::string name) {
  if (needs_quotient(x.dtype())) {
    const Tensor raised = raised_of(x, dimension, name);
    return div(raised, sum(raised, {dimension}, name + ".sum", true), std::move(name));
  }
  const auto [raised, inverse] = softmax_parts(x, dimension, name);
  return mul(raised, inverse, std::move(name));
}

}  // namespace ferry::ops
