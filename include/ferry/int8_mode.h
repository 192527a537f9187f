// How a network that is quantized to 8-bit integers is computed.
#pragma once

#include <cstdint>

namespace ferry {

// Sums of products of integers round differently from those of the floats that the integers stand for: a quantized
// result may be one unit off.
enum class Int8Mode : std::uint8_t {
  off,        // in float32, as it is defined
  automatic,  // sums up products of integers, but for layers that take less time in float32 on the target
  always,     // sums up products of integers wherever it can
};

}  // namespace ferry
