// Computes the expected results of a case with plain loops over doubles.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/kernels/operation.h"

namespace ferry::bench {

struct Deviation {
  double absolute = 0;  // the largest
  double allowed = 0;   // at that element
  std::size_t checked = 0;
  bool is_good = true;
};

// Checks a result, dense and row-major, at up to `samples` elements spread over it.
Deviation check_result(const Operation& operation, const std::vector<const void*>& inputs, const void* result,
                       std::int64_t elements, std::int64_t samples);

}  // namespace ferry::bench
