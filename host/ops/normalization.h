// Normalisation of channels, and of the last dimensions.
#pragma once

#include "host/lang/tensor.h"

#include <string>

namespace ferry::ops {

using lang::Tensor;

// X [N, C, ...] and one value a channel of the others: (X - mean) / sqrt(variance + epsilon) * gamma + beta. Each
// operation is a stage of its own (NAME.centered, .deviation, .normalized, .scaled), for a schedule to fuse.
Tensor batch_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Tensor& mean, const Tensor& variance,
                  std::string name, double epsilon = 1e-5);

// (X - mean) / sqrt(variance + epsilon) * gamma + beta, with the mean and the variance of X over its last dimensions,
// as many as gamma and beta have. The stages are NAME.mean, NAME.squares (of the distances to the mean, so that nothing
// cancels) and NAME.deviation.
Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, std::string name, double epsilon = 1e-5);

}  // namespace ferry::ops
