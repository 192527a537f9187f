// Computes graph operators on small tensors whose contents are known, so that what a network computes about its own
// shapes is settled when it is imported.
#pragma once

#include <span>

#include "host/graph/onnx/known.h"

namespace ferry::graph::onnx {

// Returns the contents of the node's output, which has the type `result`; null where they cannot be computed with
// exact integers and singly rounded floats, or depend on sizes in another way than a Size or a Ratio can express.
KnownRef fold(const Node& node, std::span<const TensorType> types, std::span<const KnownRef> inputs,
              const TensorType& result);

}  // namespace ferry::graph::onnx
