// Contents of small tensors that are known while a network is imported: shapes, indices, scales. Integers may depend on
// the network's sizes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "host/graph/onnx/model.h"

namespace ferry::graph::onnx {

// A float that depends on sizes: this quotient, before it is rounded. Arithmetic on it is exact, and so agrees with
// float32 for sizes below 2^22.
struct Ratio {
  Size numerator;
  std::int64_t denominator = 1;  // greater than 0
};

struct Known {
  std::vector<Size> integers = {};  // the elements of an integer type or bool, in row-major order
  std::vector<double> reals = {};   // the elements of a float type
  std::vector<Ratio> ratios = {};   // those of a float type of which some depend on sizes (Value::quotients)
};
using KnownRef = std::shared_ptr<const Known>;

// Larger tensors are computed with when the network runs.
inline constexpr std::size_t kMaxKnown = 1024;

// Returns the contents of a constant; null if it is too large, or holds an integer beyond int64.
KnownRef known_of(DType dtype, const ConstantData& data);
// Returns the bytes; nothing if an element depends on a size.
std::optional<ConstantData> bytes_of(DType dtype, const Known& known);
// Rounds a number to the nearest that a float type holds.
double rounded(DType dtype, double value);

}  // namespace ferry::graph::onnx
