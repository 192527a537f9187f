// Reductions over chosen dimensions, and operators built from them.
#pragma once

#include "ferry/lang/tensor.h"

#include <string>
#include <vector>

namespace ferry::ops {

using lang::Expr;
using lang::Tensor;

// Reduces over these dimensions (all if the list is empty). They are dropped from the shape, or kept with size 1.
Tensor reduce(ir::ReduceOp op, const Tensor& x, std::vector<std::size_t> dimensions, std::string name,
              bool keep = false);
Tensor sum(const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep = false);
Tensor prod(const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep = false);
Tensor max(const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep = false);
Tensor min(const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep = false);
// The sum, NAME.sum, divided by the number of elements; integers are converted to float32 first.
Tensor mean(const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep = false);
Tensor row_sum(const Tensor& x, std::string name);
// Returns the index of the first greatest (least) element along these dimensions; with several dimensions, its position
// in row-major order. The type is int64; -1 if there are no elements; NaN counts as the greatest and as the least.
Tensor argmax(const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep = false);
Tensor argmin(const Tensor& x, std::vector<std::size_t> dimensions, std::string name, bool keep = false);

struct Moments {
  Tensor mean, variance;
};
// Computes both in one pass, in the stage NAME.moments; the variance, NAME.variance, is the population variance
// (divided by the number of elements). Integers are converted to float32 first.
Moments mean_variance(const Tensor& x, std::vector<std::size_t> dimensions, const std::string& name, bool keep = false);

// Computes the softmax along one dimension in stages NAME.max, NAME.exp, NAME.sum and, for float32 and float64,
// NAME.inverse (of the sums). The arguments of exp are never positive, so it does not overflow.
Tensor softmax(const Tensor& x, std::size_t dimension, std::string name);

}  // namespace ferry::ops
