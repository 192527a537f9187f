// Compares the outputs of two kernels for the same inputs, element by element (see DifferenceLimits).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ferry/types.h"
#include "ferry/verify/findings.h"

namespace ferry::verify {

// Compares two dense outputs of the same type and shape, element by element. Two NaNs are equal.
OutputComparison compare_outputs(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
                                 std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                                 const DifferenceLimits& limits = {});

}  // namespace ferry::verify
