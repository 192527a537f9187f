// The function of a network: its parameters, and where each of its tensors is kept.
#pragma once

#include "host/graph/graph.h"
#include "host/graph/plan/composition.h"

#include <cstdint>
#include <vector>

namespace ferry::graph {

// Returns the function as it is called, without a plan: inputs, then outputs, in the graph's order. Each size
// that the inputs determine must be at least 1.
FunctionInfo describe(const Graph& graph);

struct TensorStorages {
  std::vector<Storage> storages;
  std::vector<std::uint32_t> of_tensor;  // reshaped tensors share the storage of what they are made from
  std::vector<TensorId> constants;       // tensors whose contents are constants 0, 1, ... of the module
  std::vector<StorageCopy> copies;       // after the last step: outputs that no node writes in place
};

TensorStorages assign_storages(const Graph& graph);

// Returns the number of bytes of a tensor.
ManifestExpr bytes_of(const Graph& graph, const Tensor& tensor);

}  // namespace ferry::graph
