// Recognises tensors that are computed from 8-bit integers with a scale and a zero point, as DequantizeLinear does:
// (cast(integers) - zero) * scale.
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
  std::vector<std::size_t> nodes;  // that compute it, in their order
};

// Finds them in a graph, which must outlive it and stay as it is.
class DequantizedTensors {
 public:
  explicit DequantizedTensors(const Graph& graph);
  std::optional<Dequantized> find(TensorId id) const;

 private:
  const Graph& graph_;
  std::vector<std::size_t> writer_;
};

// Returns the elements of a constant of floats.
std::vector<float> floats_of(const Tensor& tensor);

}  // namespace ferry::graph
