// Operators that only move elements.
#pragma once

#include "ferry/lang/program.h"
#include "ferry/lang/tensor.h"

#include <string>
#include <vector>

namespace ferry::ops {

using lang::Expr;
using lang::Tensor;

// Dimension d of the result is dimension order[d] of x; without an order the dimensions are reversed.
Tensor transpose(const Tensor& x, std::string name, std::vector<std::size_t> order = {});
// Returns the same elements in memory order with another shape. If it depends on sizes whether both shapes have the
// same number of elements, the program must carry reshape_requirement().
Tensor reshape(const Tensor& x, std::vector<Expr> shape, std::string name);
ir::Requirement reshape_requirement(const Tensor& x, const std::vector<Expr>& shape);
// Element i is x[begin + stride * i], in each dimension. The caller ensures that all of them are in bounds.
Tensor slice(const Tensor& x, std::vector<Expr> begin, std::vector<Expr> stride, std::vector<Expr> shape,
             std::string name);
// Surrounds x with `before` and `after` elements of `value` (default 0) in each dimension.
Tensor pad(const Tensor& x, const std::vector<Expr>& before, const std::vector<Expr>& after, std::string name,
           Expr value = {});
// Concatenates tensors along a dimension; the other dimensions must be equal.
Tensor concat(const std::vector<Tensor>& parts, std::size_t dimension, std::string name);
// Returns the lower triangle of the last two dimensions, with 0 above it.
Tensor tril(const Tensor& x, std::string name);

}  // namespace ferry::ops
