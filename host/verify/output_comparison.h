// Compares the outputs of two kernels for the same inputs, element by element (see DifferenceLimits).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ferry/types.h"
#include "ferry/verify/findings.h"

namespace ferry::verify {

// Returns the median magnitude of the numbers other than 0; 0 if there are none.
double typical_magnitude(DType dtype, std::span<const std::uint8_t> bytes);

struct AppliedLimits {
  double rtol = 0, atol = 0;
};
// Returns the limits with which these two outputs are compared.
AppliedLimits applied_limits(DType dtype, std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                             const DifferenceLimits& limits);

// Compares two dense outputs of the same type and shape, element by element. Two NaNs are equal.
OutputComparison compare_outputs(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
                                 std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                                 const DifferenceLimits& limits = {});

}  // namespace ferry::verify
