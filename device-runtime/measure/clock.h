// The clock of all measurements: it never jumps backwards or is slewed by time synchronisation.
#pragma once

#include <cstdint>

namespace ferry::device {

std::int64_t now_ns();

// Best observed values, measured once per process.
struct ClockFacts {
  std::int64_t overhead_ns = 0;    // smallest difference between two consecutive readings
  std::int64_t resolution_ns = 1;  // smallest non-zero difference
};
const ClockFacts& clock_facts();

inline std::int64_t clock_overhead_ns() { return clock_facts().overhead_ns; }

}  // namespace ferry::device
