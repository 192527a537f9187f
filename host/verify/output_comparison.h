// Compares the outputs of two kernels for the same inputs.
//
// Neither kernel is known to be right, so the permissible rounding error cannot be derived from the terms, as `ferry
// run --check` does. Two floats differ if their difference exceeds rtol times the larger of them plus rtol times the
// largest element of the output: a sum in another order has an error relative to its terms, which cancellation may
// leave far larger than the sum itself. Integers must be equal.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ferry/types.h"

namespace ferry::verify {

struct DifferenceLimits {
  std::optional<double> rtol;  // nothing: by type, see tolerances.h
  std::optional<double> atol;  // nothing: rtol times the output's largest finite magnitude
};

struct OutputComparison {
  std::string output;
  std::uint64_t elements = 0;
  std::uint64_t different = 0;
  std::uint64_t nan[2] = {0, 0};  // NaNs in each
  double rtol = 0, atol = 0;      // the limits that were applied
  double largest_difference = 0;  // absolute, of finite elements
  std::string first_difference;   // "y[3] 0.7 against 0"; empty if there is none
};

// Compares two dense outputs of the same type and shape, element by element. Two NaNs are equal.
OutputComparison compare_outputs(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
                                 std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                                 const DifferenceLimits& limits = {});

}  // namespace ferry::verify
