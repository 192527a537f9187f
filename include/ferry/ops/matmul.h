// Matrix products.
#pragma once

#include "ferry/lang/tensor.h"

#include <optional>
#include <string>

namespace ferry::ops {

using lang::Expr;
using lang::Tensor;

struct Transposed {
  bool a = false;  // A is stored as [K, M]
  bool b = false;  // B is stored as [N, K]
};

// C[m, n] = sum over k of A[m, k] * B[k, n], with k called "k".
Tensor matmul(const Tensor& a, const Tensor& b, std::string name, Transposed transposed = {});
// The same for each entry of the first dimension, the batch, which both tensors have.
Tensor batch_matmul(const Tensor& a, const Tensor& b, std::string name, Transposed transposed = {});
// The same with the dimensions before the last two broadcast. A vector is a row of A or a column of B, and the result
// then lacks that dimension; transposing it changes nothing. Elements are converted to
// the type of the products before they are multiplied, if one is given.
Tensor broadcast_matmul(const Tensor& a, const Tensor& b, std::string name, Transposed transposed = {},
                        std::optional<DType> products = std::nullopt);
// Y[n, o] = sum over i of X[n, i] * W[o, i], plus B[o] unless B is an empty Tensor; the sum is then NAME.product.
Tensor dense(const Tensor& x, const Tensor& weights, const Tensor& bias, std::string name);

}  // namespace ferry::ops
