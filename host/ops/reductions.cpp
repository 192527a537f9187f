#include "host/ops/reductions.h"

#include "crosscompile/ir/error.h"
#include "host/ops/elementwise.h"
#include "host/ops/shapes.h"

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

}  // namespace

Tensor reduce(ir::ReduceOp op, const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep) {
  check_dimensions(x, dimensions, name);
  std::vector<Expr> shape;
  std::vector<lang::ReduceAxis> axes;
  std::vector<bool> reduced(x.rank());
  for (const std::size_t d : dimensions) reduced[d] = true;
  for (std::size_t d = 0; d < x.rank(); ++d) {
    if (reduced[d]) axes.push_back(lang::reduce_axis(x.shape()[d], "k" + std::to_string(d)));
    if (!reduced[d]) shape.push_back(x.shape()[d]);
    if (reduced[d] && keep) shape.emplace_back(1);
  }
  return lang::compute(
      std::move(shape),
      [&](const std::vector<Expr>& i) {
        std::vector<Expr> at;
        std::size_t axis = 0, next = 0;
        for (std::size_t d = 0; d < x.rank(); ++d) {
          at.push_back(reduced[d] ? Expr(axes[axis++]) : i[next]);
          if (!reduced[d] || keep) ++next;
        }
        return lang::reduce(op, x(at), axes);
      },
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
  const Tensor values = is_float(x.dtype()) ? x : cast(x, DType::f32, name + ".float");
  const Tensor total = sum(values, dimensions, name + ".sum", keep);
  return map(total, [&](const Expr& value) { return value / ir::cast(value.type().code, count); }, std::move(name));
}

Tensor row_sum(const Tensor& x, std::string name) {
  expect_rank(x, 2, name);
  return sum(x, {1}, std::move(name));
}

Tensor softmax(const Tensor& x, std::size_t dimension, std::string name) {
  const Tensor highest = max(x, {dimension}, name + ".max", true);
  const Tensor raised = broadcast(
      x, highest, [](const Expr& value, const Expr& most) { return ir::call_math("exp", {value - most}); },
      name + ".exp");
  const Tensor total = sum(raised, {dimension}, name + ".sum", true);
  return div(raised, total, std::move(name));
}

}  // namespace ferry::ops
