#include "ferry/ops/shapes.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/ir/substitute.h"
#include "host/lang/library.h"
#include "host/ops/checks.h"

#include <algorithm>

namespace ferry::ops {
namespace {

Expr product(const std::vector<Expr>& sizes) {
  Expr all(1);
  for (const Expr& size : sizes) all = all * size;
  return all;
}

void expect_one_each(std::size_t count, const Tensor& x, const char* what, const std::string& name) {
  if (count == x.rank()) return;
  throw CompileError("'" + name + "': expected " + what + " for each dimension of '" + x.name() + "' " + shape_text(x) +
                     ", got " + std::to_string(count));
}

}  // namespace

Tensor transpose(const Tensor& x, std::string name, std::vector<std::size_t> order) {
  if (order.empty()) {
    for (std::size_t d = x.rank(); d-- > 0;) order.push_back(d);
  }
  expect_one_each(order.size(), x, "a place", name);
  std::vector<std::size_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t d = 0; d < sorted.size(); ++d) {
    if (sorted[d] != d) throw CompileError("'" + name + "': expected every dimension once in the order");
  }
  std::vector<Expr> shape;
  for (const std::size_t d : order) shape.push_back(x.shape()[d]);
  return lang::library::compute(
      std::move(shape),
      [&](const std::vector<Expr>& i) {
        std::vector<Expr> at(x.rank());
        for (std::size_t d = 0; d < order.size(); ++d) at[order[d]] = i[d];
        return x(at);
      },
      std::move(name));
}

Tensor reshape(const Tensor& x, std::vector<Expr> shape, std::string name) {
  const Expr have = product(x.shape()), want = product(shape);
  const std::int64_t *a = ir::as_int(have), *b = ir::as_int(want);
  if (a != nullptr && b != nullptr && *a != *b) {
    throw CompileError("'" + name + "': expected a shape of " + std::to_string(*a) + " elements, got " +
                       std::to_string(*b));
  }
  return lang::library::compute(
      shape,
      [&](const std::vector<Expr>& i) {
        Expr place(0);
        for (std::size_t d = 0; d < i.size(); ++d) place = place * shape[d] + i[d];
        std::vector<Expr> at(x.rank());
        for (std::size_t d = x.rank(); d-- > 0;) {
          // The first index needs no modulo, since the position is in bounds.
          at[d] = d == 0 ? place : place % x.shape()[d];
          place = place / x.shape()[d];
        }
        return x(at);
      },
      std::move(name));
}

ir::Requirement reshape_requirement(const Tensor& x, const std::vector<Expr>& shape) {
  return {product(x.shape()) == product(shape), "'" + x.name() + "' has as many elements as the shape it is given"};
}

Tensor slice(const Tensor& x, std::vector<Expr> begin, std::vector<Expr> stride, std::vector<Expr> shape,
             std::string name) {
  expect_one_each(begin.size(), x, "a begin", name);
  expect_one_each(stride.size(), x, "a stride", name);
  expect_one_each(shape.size(), x, "a size", name);
  return lang::library::compute(
      std::move(shape),
      [&](const std::vector<Expr>& i) {
        std::vector<Expr> at;
        for (std::size_t d = 0; d < i.size(); ++d) at.push_back(begin[d] + stride[d] * i[d]);
        return x(at);
      },
      std::move(name));
}

Tensor pad(const Tensor& x, const std::vector<Expr>& before, const std::vector<Expr>& after, std::string name,
           Expr value) {
  expect_one_each(before.size(), x, "a number of elements before", name);
  expect_one_each(after.size(), x, "a number of elements after", name);
  if (!value.defined()) value = ir::constant(ir::Type(x.dtype()), std::int64_t{0});
  value = ir::cast(x.dtype(), value);
  std::vector<Expr> shape;
  for (std::size_t d = 0; d < x.rank(); ++d) shape.push_back(before[d] + x.shape()[d] + after[d]);
  return lang::library::compute(
      std::move(shape),
      [&](const std::vector<Expr>& i) {
        std::vector<Expr> at, inside;
        for (std::size_t d = 0; d < x.rank(); ++d) {
          const bool none_before = ir::is_constant(before[d], 0), none_after = ir::is_constant(after[d], 0);
          at.push_back(i[d] - before[d]);
          if (!none_before) inside.push_back(i[d] >= before[d]);
          if (!none_after) inside.push_back(i[d] < before[d] + x.shape()[d]);
        }
        return inside.empty() ? x(at) : ir::if_then_else(lang::all_of(inside), x(at), value);
      },
      std::move(name));
}

Tensor concat(const std::vector<Tensor>& parts, std::size_t dimension, std::string name) {
  if (parts.empty()) throw CompileError("'" + name + "': expected at least one tensor to concatenate");
  const Tensor& first = parts[0];
  if (dimension >= first.rank()) {
    throw CompileError("'" + name + "': expected a dimension of '" + first.name() + "' " + shape_text(first) +
                       ", got " + std::to_string(dimension));
  }
  std::vector<Expr> shape = first.shape(), ends{first.shape()[dimension]};
  for (std::size_t p = 1; p < parts.size(); ++p) {
    expect_rank(parts[p], first.rank(), name);
    if (parts[p].dtype() != first.dtype()) {
      throw CompileError("'" + name + "': expected '" + parts[p].name() + "' to have the type " +
                         dtype_name(first.dtype()) + ", got " + dtype_name(parts[p].dtype()));
    }
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (d == dimension) continue;
      expect_same(shape[d], parts[p].shape()[d],
                  "dimension " + std::to_string(d) + " of '" + first.name() + "' and '" + parts[p].name() + "'", name);
    }
    ends.push_back(ends.back() + parts[p].shape()[dimension]);
  }
  shape[dimension] = ends.back();
  return lang::library::compute(
      std::move(shape),
      [&](const std::vector<Expr>& i) {
        const auto part = [&](std::size_t p) {
          std::vector<Expr> at = i;
          if (p > 0) at[dimension] = i[dimension] - ends[p - 1];
          return parts[p](at);
        };
        // The choice guards its branches: each part is read only in bounds.
        Expr value = part(parts.size() - 1);
        for (std::size_t p = parts.size() - 1; p-- > 0;)
          value = ir::if_then_else(i[dimension] < ends[p], part(p), value);
        return value;
      },
      std::move(name));
}

Tensor tril(const Tensor& x, std::string name) {
  if (x.rank() < 2)
    throw CompileError("'" + name + "': expected '" + x.name() + "' to have 2 dimensions or more, got " +
                       shape_text(x));
  const Expr zero = ir::constant(ir::Type(x.dtype()), std::int64_t{0});
  return lang::library::compute(
      x.shape(), [&](const std::vector<Expr>& i) { return ir::select(i[i.size() - 2] >= i[i.size() - 1], x(i), zero); },
      std::move(name));
}

}  // namespace ferry::ops
