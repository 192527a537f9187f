// Compares two blocks of memory and describes the first difference for debugging a code generator.
#pragma once

#include "ferry/types.h"

#include <span>
#include <string>

namespace ferry::codegen_test {

struct Tolerance {
  double ulps = 0;
  bool any_zero = false;
  bool flushed = false;  // subnormal float32 values may be flushed to 0
};

// Returns for example "element 3: expected 1.5 (0x3fc00000), got 1.25 (0x3fa00000)"; empty if both agree.
std::string first_difference(DType dtype, std::span<const unsigned char> expected, std::span<const unsigned char> got,
                             const Tolerance& tolerance);

}  // namespace ferry::codegen_test
