// The function of a network: its parameters, and where each of its tensors is kept.
#pragma once

#include "host/graph/graph.h"
#include "host/graph/plan/composition.h"

#include <cstdint>
#include <vector>

namespace ferry::graph {

// Returns the function as it is called, without a plan: inputs, then outputs, in the graph's order. Sizes
// determined by the inputs must be at least 1, unless they may be 0 (empty_sizes.h), and the graph's requirements hold.
FunctionInfo describe_network(const Graph& graph);

// A copy that stands where a node does.
struct PlacedCopy {
  std::size_t node = 0;  // number of nodes before it
  StorageCopy copy;
  bool is_of_concat = false;  // whether it is an input of the concat in place that follows
};

struct TensorStorages {
  std::vector<Storage> storages;
  std::vector<std::uint32_t> of_tensor;  // reshaped tensors share the storage of what they are made from
  std::vector<TensorId> constants;       // tensors whose contents are constants 0, 1, ... of the module
  // Inputs of concats in place that nothing can write there; states of loops, and entries of tensors that the nodes
  // inside do not access where they lie; zeros in whole tensors before a loop that may end early; and outputs of the
  // network, after the last node. In the order of their nodes.
  std::vector<PlacedCopy> copies;
};

// The inputs of concats that are in place become parts of the result where a node of this network writes them, they are
// no outputs, and they lie in no other tensor already.
TensorStorages assign_storages(const Graph& graph);

// Returns the number of bytes of a tensor.
ManifestExpr bytes_of(const Graph& graph, const Tensor& tensor);

}  // namespace ferry::graph
