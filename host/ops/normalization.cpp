#include "ferry/ops/normalization.h"

#include "ferry/ops/elementwise.h"
#include "ferry/ops/reductions.h"
#include "host/lang/library.h"
#include "host/ops/checks.h"
#include "host/ops/invert.h"

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
    return lang::library::compute(
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

Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, std::string name, double epsilon) {
  if (gamma.rank() == 0 || gamma.rank() > x.rank() || !is_float(x.dtype())) {
    throw CompileError("'" + name + "': expected floats with the dimensions of '" + gamma.name() +
                       "' as the last ones, got " + shape_text(x));
  }
  expect_rank(beta, gamma.rank(), name);
  const std::size_t outer = x.rank() - gamma.rank();
  std::vector<std::size_t> inner;
  for (std::size_t d = outer; d < x.rank(); ++d) {
    for (const Tensor& each : {gamma, beta}) {
      expect_same(x.shape()[d], each.shape()[d - outer],
                  "the last dimensions of '" + x.name() + "' and '" + each.name() + "'", name);
    }
    inner.push_back(d);
  }
  using lang::Expr;
  const auto first = [&](const std::vector<Expr>& i) {
    return std::vector<Expr>(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(outer));
  };
  const auto last = [&](const std::vector<Expr>& i) {
    return std::vector<Expr>(i.begin() + static_cast<std::ptrdiff_t>(outer), i.end());
  };
  const Tensor average = mean(x, inner, name + ".mean");
  const std::vector<Expr> shape = first(x.shape());
  std::vector<lang::ReduceAxis> axes;
  Expr count = 1;
  for (const std::size_t d : inner) {
    axes.push_back(lang::reduce_axis(x.shape()[d], "k" + std::to_string(d)));
    count = count * x.shape()[d];
  }
  const Tensor squares = lang::library::compute(
      shape,
      [&](const std::vector<Expr>& i) {
        std::vector<Expr> at = i;
        at.insert(at.end(), axes.begin(), axes.end());
        const Expr apart = x(at) - average(i);
        return lang::sum(apart * apart, axes);
      },
      name + ".squares");
  const Tensor deviation = map(
      squares,
      [&](const Expr& total) {
        const ir::Type type = total.type();
        return ir::call_math("sqrt", {total / ir::cast(type.code, count) + ir::constant(type, epsilon)});
      },
      name + ".deviation");
  const auto result = [&](const auto& normalized) {
    return lang::library::compute(
        x.shape(),
        [&](const std::vector<Expr>& i) {
          return normalized(x(i) - average(first(i)), first(i)) * gamma(last(i)) + beta(last(i));
        },
        name);
  };
  if (needs_quotient(x.dtype()))
    return result([&](const Expr& apart, const std::vector<Expr>& i) { return apart / deviation(i); });
  const Tensor inverse = invert(deviation, name + ".inverse");
  return result([&](const Expr& apart, const std::vector<Expr>& i) { return apart * inverse(i); });
}

}  // namespace ferry::ops
