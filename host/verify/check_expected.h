// Compares a result with the one that somebody else, such as another implementation of the network, has computed.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ferry/verify/findings.h"
#include "host/kernel/tensor_file.h"

namespace ferry::verify {

struct ComputedTensor {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  std::span<const std::uint8_t> bytes;
};

// Compares element by element; `against` says in messages who expects it: "ref.npy". The expected elements may have
// another type of the same kind (floats, or integers and bool), and are compared as numbers. Without limits, floats may
// differ as those of two kernels may (DifferenceLimits), by the less exact of both types; integers must be equal, and
// so must the shapes.
CheckResult check_expected(const ComputedTensor& computed, const TensorFile& expected, const CheckLimits& limits,
                           const std::string& against);

}  // namespace ferry::verify
