// The factors of a softmax, for kernels that multiply sums over its rows instead of its elements by the inverses.
#pragma once

#include "ferry/lang/tensor.h"

#include <cstddef>
#include <string>

namespace ferry::ops {

using lang::Tensor;

struct SoftmaxParts {
  Tensor raised;   // exp(x - the largest element of the row), in the stage NAME.exp
  Tensor inverse;  // 1 / the row's sum of these; the dimension has size 1
};

// Returns the factors of softmax() (ferry/ops/reductions.h). The elements are float32 or float64.
SoftmaxParts softmax_parts(const Tensor& x, std::size_t dimension, const std::string& name);

}  // namespace ferry::ops
