// Whether two kernels computed the same from the same inputs.
//
// Neither of them is known to be right, so what rounding explains cannot be derived from the terms, as `ferry run
// --check` does. A difference of two floats counts when it exceeds a share of the larger of them plus the same share of
// the largest element of the output: a sum in another order is off by a share of its terms, which cancellation may
// leave far larger than the sum itself. Integers must be equal.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rpc/abi/dtype.h"

namespace ferry::verify {

struct DifferenceLimits {
  std::optional<double> rtol;  // nothing: by type, see default_rtol()
  std::optional<double> atol;  // nothing: rtol times the output's largest finite magnitude
};

// f16 4e-3, bf16 3e-2, f32 1e-4, f64 1e-10; 0 for integers.
double default_rtol(DType dtype);

struct OutputComparison {
  std::string output;
  std::uint64_t elements = 0;
  std::uint64_t different = 0;
  double rtol = 0, atol = 0;      // those that held
  double largest_difference = 0;  // absolute, of finite elements
  std::string first_difference;   // "y[3] 0.7 against 0"; empty without one
};

// Two dense outputs of one type and shape, element after element. Two NaNs are equal.
OutputComparison compare_outputs(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
                                 std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                                 const DifferenceLimits& limits = {});

}  // namespace ferry::verify
