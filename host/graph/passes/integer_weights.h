// Constant weights of 8-bit integers with zero points, as integers without.
#pragma once

#include "host/graph/graph.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace ferry::graph {

// Returns a constant with these elements.
template <class T>
std::shared_ptr<const ConstantData> constant_data(const std::vector<T>& elements);

// Returns the elements of a constant of 8-bit integers, int16, int32 or float32 that are integers of int16; nothing for
// others.
std::optional<std::vector<std::int32_t>> integers_of(const Tensor& tensor);

struct IntegerWeights {
  DType dtype = DType::i8;                   // int16 where int8 does not hold them all
  std::shared_ptr<const ConstantData> data;  // has the same shape
};

// Returns `weights`, a constant of 8-bit integers, minus their zero points, a constant with one element or one for each
// entry of dimension `d`; kNoTensor: 0. Returns nothing for other zero points, and for those that 8-bit integers lack.
std::optional<IntegerWeights> without_zero_points(const Graph& graph, TensorId weights, TensorId zero, std::size_t d);

}  // namespace ferry::graph
