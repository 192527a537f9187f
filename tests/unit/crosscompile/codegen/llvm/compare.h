// Where two pieces of memory differ, in the words a person debugging a code generator needs.
#pragma once

#include "rpc/abi/dtype.h"

#include <span>
#include <string>

namespace ferry::codegen_test {

struct Tolerance {
  double ulps = 0;
  bool any_zero = false;
  bool flushed = false;  // a subnormal float32 may be 0
};

// "element 3: expected 1.5 (0x3fc00000), got 1.25 (0x3fa00000)"; empty when they agree.
std::string first_difference(DType dtype, std::span<const unsigned char> expected, std::span<const unsigned char> got,
                             const Tolerance& tolerance);

}  // namespace ferry::codegen_test
