// Seeded tensor contents that are identical bit for bit on every machine, so that large inputs need not be transferred.
#pragma once

#include "ferry/types.h"

#include <cstddef>
#include <cstdint>

namespace ferry {

// The values are used on the wire.
enum class FillKind : std::uint8_t {
  zeros = 1,
  ones = 2,
  iota = 3,    // 0, 1, 2, ... converted to the type (integers wrap)
  random = 4,  // floats uniform in [-1, 1), integers uniform in [-8, 7] or [0, 15], bool 0 or 1
};

// Writes elements [first, first + count) of a tensor filled this way. Element i depends only on (kind, seed, i).
void fill(FillKind kind, std::uint64_t seed, DType dtype, std::uint64_t first, std::uint64_t count, void* destination);

}  // namespace ferry
