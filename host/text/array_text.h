// Prints tensors like numpy.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ferry/types.h"

namespace ferry::text {

// Larger tensors are too long for a screen.
inline constexpr std::size_t kPrintedElements = 1000;

// Returns a float's value with the fewest digits that reproduce it in its own type: "0.1", "1e+30".
std::string shortest_text(DType dtype, double value);

// Prints nested brackets with aligned columns; where a row can be broken, lines are at most 75 characters wide. A float
// has the fewest digits that reproduce its value, at most eight after the decimal point.
std::string array_text(DType dtype, std::span<const std::int64_t> shape, const void* data);

}  // namespace ferry::text
