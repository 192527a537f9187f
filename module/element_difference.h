// Compares single elements of tensors, on the device and on the host alike.
#pragma once

#include <cstdint>

#include "ferry/types.h"

namespace ferry {

// Returns the element as a double; the last bits of large 64-bit integers are rounded.
double element_value(DType dtype, const std::uint8_t* element);

// Whether two elements differ by more than atol + rtol * the larger magnitude. Two NaNs are equal, and so are 0 and -0
// unless both limits are 0. Rounding explains neither the difference between an infinity and a number nor that between
// opposite infinities.
bool elements_differ(DType dtype, const std::uint8_t* a, const std::uint8_t* b, double rtol, double atol);

}  // namespace ferry
