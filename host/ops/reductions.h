// Reductions over chosen dimensions, and what is built from them.
#pragma once

#include "host/lang/tensor.h"

#include <string>
#include <vector>

namespace ferry::ops {

using lang::Expr;
using lang::Tensor;

// Over these dimensions (all of them when none is named). They leave the shape, or stay with size 1.
Tensor reduce(ir::ReduceOp op, const Tensor& x, std::vector<std::size_t> dimensions, std::string name,
              bool keep = false);
Tensor sum(const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep = false);
Tensor prod(const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep = false);
Tensor max(const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep = false);
Tensor min(const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep = false);
// The sum, NAME.sum, divided by the number of elements; integers become float32 first.
Tensor mean(const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep = false);
Tensor row_sum(const Tensor& x, std::string name);
// Where the greatest (least) element along these dimensions stands, the first of several: its index, or its position in
// row-major order when there are several dimensions. int64; -1 of nothing; NaN counts as the greatest and the least.
Tensor argmax(const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep = false);
Tensor argmin(const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep = false);

struct Moments {
  Tensor mean, variance;
};
// Both in one pass, in the stage NAME.moments; the variance, NAME.variance, is that of the whole population (divided by
// the number of elements). Integers become float32 first.
Moments mean_variance(const Tensor& x, std::vector<std::size_t> dimensions, const std::string& name, bool keep = false);

// Along one dimension, in stages NAME.max, NAME.exp and NAME.sum; exp sees no positive number, so it does not overflow.
Tensor softmax(const Tensor& x, std::size_t dimension, std::string name);

}  // namespace ferry::ops
