// Operators that only move elements, and words for shapes that all operators use.
#pragma once

#include "host/lang/program.h"
#include "host/lang/tensor.h"

#include <string>
#include <vector>

namespace ferry::ops {

using lang::Expr;
using lang::Tensor;

// "[N, 4]"
std::string shape_text(const Tensor& tensor);
// CompileError "'C': expected 'A' to have 2 dimensions, got [N]".
void expect_rank(const Tensor& tensor, std::size_t rank, const std::string& name);
// CompileError unless both are the same constant or expression. `what` tells which sizes: "the inner dimensions of 'A'
// and 'B'".
void expect_same(const Expr& a, const Expr& b, const std::string& what, const std::string& name);

// Dimension d of the result is dimension order[d] of x; without an order the dimensions are reversed.
Tensor transpose(const Tensor& x, std::string name, std::vector<std::size_t> order = {});
// The same elements in memory order under another shape. When sizes alone decide whether the two shapes hold the same
// number of elements, the program must carry reshape_requirement().
Tensor reshape(const Tensor& x, std::vector<Expr> shape, std::string name);
ir::Requirement reshape_requirement(const Tensor& x, const std::vector<Expr>& shape);
// Element i is x[begin + stride * i], in each dimension. The caller answers for all of them being inside.
Tensor slice(const Tensor& x, std::vector<Expr> begin, std::vector<Expr> stride, std::vector<Expr> shape,
             std::string name);
// `before` and `after` elements of `value` (0 if nothing) around x, in each dimension.
Tensor pad(const Tensor& x, const std::vector<Expr>& before, const std::vector<Expr>& after, std::string name,
           Expr value = {});
// One behind the other along a dimension; the others must be the same.
Tensor concat(const std::vector<Tensor>& parts, std::size_t dimension, std::string name);
// The lower triangle of the last two dimensions; 0 above it.
Tensor tril(const Tensor& x, std::string name);

}  // namespace ferry::ops
