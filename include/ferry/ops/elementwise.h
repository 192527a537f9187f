// Elementwise operators with NumPy's broadcasting: shapes are aligned at their last dimensions, and a dimension that is
// 1 or missing is repeated. Two different symbolic sizes do not broadcast.
#pragma once

#include "ferry/lang/tensor.h"

#include <functional>
#include <string>
#include <vector>

namespace ferry::ops {

using lang::Expr;
using lang::Tensor;

// Throws CompileError: "'C': expected shapes that broadcast, got [4, 3] and [4, 2]".
std::vector<Expr> broadcast_shape(const Tensor& a, const Tensor& b, const std::string& name);
Tensor broadcast(const Tensor& a, const Tensor& b, const std::function<Expr(Expr, Expr)>& operation, std::string name);

Tensor add(const Tensor& a, const Tensor& b, std::string name);
Tensor sub(const Tensor& a, const Tensor& b, std::string name);
Tensor mul(const Tensor& a, const Tensor& b, std::string name);
Tensor div(const Tensor& a, const Tensor& b, std::string name);
Tensor max(const Tensor& a, const Tensor& b, std::string name);
Tensor min(const Tensor& a, const Tensor& b, std::string name);
Tensor pow(const Tensor& a, const Tensor& b, std::string name);

Tensor map(const Tensor& x, const std::function<Expr(Expr)>& operation, std::string name);
// Applies a function of math.def with one argument.
Tensor unary(const Tensor& x, const std::string& function, std::string name);
Tensor relu(const Tensor& x, std::string name);
Tensor sigmoid(const Tensor& x, std::string name);
Tensor tanh(const Tensor& x, std::string name);
// x / 2 * (1 + erf(x / sqrt(2)))
Tensor gelu(const Tensor& x, std::string name);
Tensor cast(const Tensor& x, DType to, std::string name);

}  // namespace ferry::ops
