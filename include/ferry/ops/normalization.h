// Normalisation over channels and over the last dimensions.
#pragma once

#include "ferry/lang/tensor.h"

#include <string>

namespace ferry::ops {

using lang::Tensor;

// X is [N, C, ...]; each of the others has one value for each channel. Computes
// (X - mean) / sqrt(variance + epsilon) * gamma + beta. Each operation is a stage of its own (NAME.centered,
// .deviation, .normalized, .scaled), which a schedule may fuse.
Tensor batch_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Tensor& mean, const Tensor& variance,
                  std::string name, double epsilon = 1e-5);

// Computes (X - mean) / sqrt(variance + epsilon) * gamma + beta, with the mean and the variance of X over as many last
// dimensions as gamma and beta have. The stages are NAME.mean, NAME.squares (of the deviations from the mean, to avoid
// cancellation), NAME.deviation and, for float32 and float64, NAME.inverse (of the standard deviations).
Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, std::string name, double epsilon = 1e-5);

}  // namespace ferry::ops
