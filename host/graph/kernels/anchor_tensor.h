// Computes a node that is not elementwise with host/ops.
#pragma once

#include "host/graph/kernels/families.h"
#include "host/graph/kernels/kernel_key.h"

#include <cstdint>
#include <string>

namespace ferry::graph {

// Returns the node's result, without the bias of a convolution. Throws InternalError for an elementwise operator.
lang::Tensor tensor_of(const KernelNode& node, const Inputs& x, const SizeExpr& size, const std::string& name);
// The same for a result with its channels in blocks of `lanes`.
lang::Tensor blocked_tensor_of(const KernelNode& node, const Inputs& x, std::int64_t lanes, const std::string& name);

}  // namespace ferry::graph
