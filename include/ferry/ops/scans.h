// Cumulative sums and products (prefix scans).
#pragma once

#include "ferry/lang/tensor.h"

#include <string>

namespace ferry::ops {

using lang::Expr;
using lang::Tensor;

// Element i along `dimension` is the sum or product of the elements 0 to i, without i itself if `exclusive`; or of
// those from the last one down to i with `backwards`. They are combined in this order, one after the other; floats of
// 16 bits in float32, rounded for each element of the result.
Tensor cumulative_sum(const Tensor& x, std::size_t dimension, bool exclusive, bool backwards, std::string name);
Tensor cumulative_prod(const Tensor& x, std::size_t dimension, bool exclusive, bool backwards, std::string name);

}  // namespace ferry::ops
