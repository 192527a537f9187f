// Recognises tensors that are computed from 8-bit integers with a scale and a zero point, as DequantizeLinear does:
// (cast(integers) - zero) * scale; and the integers without their zero point, in int32, as integer convolutions read
// them: cast(integers) - zero.
#pragma once

#include "host/graph/graph.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace ferry::graph {

struct Dequantized {
  TensorId integers = kNoTensor;
  TensorId scale = kNoTensor;      // a constant
  TensorId zero = kNoTensor;       // a constant of the type of the scale; kNoTensor: 0
  std::vector<std::size_t> nodes;  // the nodes that compute it, in their order
};

struct Centered {
  TensorId integers = kNoTensor;
  TensorId zero = kNoTensor;  // has type int32, or 8-bit integers that a node widens; kNoTensor: 0
};

// Finds them in a graph, which must outlive it and stay as it is.
class DequantizedTensors {
 public:
  explicit DequantizedTensors(const Graph& graph);
  std::optional<Dequantized> find(TensorId id) const;
  std::optional<Centered> find_centered(TensorId id) const;

 private:
  // Returns the node that writes a tensor if it is this operator; otherwise null.
  const Node* writer(TensorId id, Operator op) const;

  const Graph& graph_;
  std::vector<std::size_t> writer_;
};

// Returns the elements of a constant of floats.
std::vector<float> floats_of(const Tensor& tensor);

}  // namespace ferry::graph
