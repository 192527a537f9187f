// A network whose tensors between groups of nodes are outputs too, so that the result of each kernel can be compared
// with what the nodes of its group compute from its inputs.
#pragma once

#include "host/graph/graph.h"
#include "host/graph/loops.h"

#include <vector>

namespace ferry::graph {

// Appends an output for each tensor that a group (passes/make_groups.h) computes and that is none. Reshaped tensors are
// those that they are made from. The outputs have the names of their groups, which stay the same. Inside of
// a loop, this holds for states and entries too, and an output has the tensor of every iteration; what is in a loop
// that may run without end (loops.h) is left out.
Graph with_all_outputs(Graph graph);

// Returns the tensor that this one is reshaped from, through any number of reshapes, or itself; for all tensors.
std::vector<TensorId> origins_of(const Graph& graph);

// A tensor as a network with all outputs holds it.
struct HeldTensor {
  TensorId tensor = kNoTensor;     // an input, a constant, or what an output is or is reshaped from
  std::vector<std::size_t> loops;  // the loops for each of whose iterations it has an entry, the outermost first
};

class HeldTensors {
 public:
  // The graph has all outputs, and outlives this object.
  explicit HeldTensors(const Graph& graph);
  HeldTensor find(TensorId id) const;
  const std::vector<TensorId>& origins() const { return origins_; }

 private:
  const Graph& graph_;
  const Loops loops_;
  std::vector<TensorId> origins_;
  std::vector<std::size_t> loop_of_tensor_;
};

}  // namespace ferry::graph
