#include "host/ops/normalization.h"

#include "host/ops/elementwise.h"
#include "host/ops/shapes.h"

#include "crosscompile/ir/error.h"

namespace ferry::ops {

Tensor batch_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Tensor& mean, const Tensor& variance,
                  std::string name, double epsilon) {
  if (x.rank() < 2)
    throw CompileError("'" + name + "': expected '" + x.name() + "' to have 2 dimensions or more, got " +
                       shape_text(x));
  for (const Tensor& each : {gamma, beta, mean, variance}) {
    expect_rank(each, 1, name);
    expect_same(x.shape()[1], each.shape()[0], "the channels of '" + x.name() + "' and '" + each.name() + "'", name);
  }
  const auto stage = [&](const Tensor& left, const Tensor& channel, const char* suffix, const auto& operation) {
    return lang::compute(
        left.shape(), [&](const std::vector<lang::Expr>& i) { return operation(left(i), channel(i[1])); },
        name + suffix);
  };
  using lang::Expr;
  const Tensor deviation = map(
      variance, [&](const Expr& v) { return ir::call_math("sqrt", {v + ir::constant(v.type(), epsilon)}); },
      name + ".deviation");
  const Tensor centered = stage(x, mean, ".centered", [](const Expr& a, const Expr& b) { return a - b; });
  const Tensor normalized =
      stage(centered, deviation, ".normalized", [](const Expr& a, const Expr& b) { return a / b; });
  const Tensor scaled = stage(normalized, gamma, ".scaled", [](const Expr& a, const Expr& b) { return a * b; });
  return stage(scaled, beta, "", [](const Expr& a, const Expr& b) { return a + b; });
}

}  // namespace ferry::ops
