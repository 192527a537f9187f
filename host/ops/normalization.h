// Normalisation of channels.
#pragma once

#include "host/lang/tensor.h"

#include <string>

namespace ferry::ops {

using lang::Tensor;

// X [N, C, ...] and one value a channel of the others: (X - mean) / sqrt(variance + epsilon) * gamma + beta. Each
// operation is a stage of its own (NAME.centered, .deviation, .normalized, .scaled), for a schedule to fuse.
Tensor batch_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Tensor& mean, const Tensor& variance,
                  std::string name, double epsilon = 1e-5);

}  // namespace ferry::ops
