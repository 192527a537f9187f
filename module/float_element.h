// Elements of tensors of floats as doubles.
#pragma once

#include "ferry/types.h"

#include <cstdint>

namespace ferry {

// Rounds the value once to f16, bf16, f32 or f64 and stores the element's bytes.
void store_float(DType dtype, double value, std::uint8_t* into);
// Returns the value of such an element, exactly.
double load_float(DType dtype, const std::uint8_t* from);

}  // namespace ferry
