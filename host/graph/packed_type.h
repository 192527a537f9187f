// Checks the node of a product with weights of few bits.
#pragma once

#include "host/graph/node_check.h"

#include <span>

namespace ferry::graph {

// Returns the type of a packed_matmul's result.
TensorType packed_matmul_type(const NodeCheck& check, std::span<const TensorType> inputs);

}  // namespace ferry::graph
