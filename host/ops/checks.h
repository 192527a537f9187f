// Shape checks and messages that all operators use.
#pragma once

#include "ferry/lang/tensor.h"
#include "ferry/ops/convolution.h"

#include <string>
#include <vector>

namespace ferry::ops {

using lang::Expr;
using lang::Tensor;

// "[N, 4]"
std::string shape_text(const Tensor& tensor);
// Throws CompileError: "'C': expected 'A' to have 2 dimensions, got [N]".
void expect_rank(const Tensor& tensor, std::size_t rank, const std::string& name);
// Throws CompileError: "'C': expected a dimension of 'A' [N, 4], got 2".
void expect_dimension(std::size_t dimension, const Tensor& tensor, const std::string& name);
// Throws CompileError unless both are the same constant or expression. `what` names the sizes: "the inner dimensions of
// 'A' and 'B'".
void expect_same(const Expr& a, const Expr& b, const std::string& what, const std::string& name);
// Throws CompileError unless there are a window for the height and one for the width.
void expect_two_windows(const std::vector<Window>& windows, const std::string& name);
// Whether the size is a number that `block` divides.
bool is_multiple(const Expr& size, std::int64_t block);

}  // namespace ferry::ops
