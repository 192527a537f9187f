// The clock of all timings: it never jumps and is not slewed by time synchronisation.
#pragma once

#include <cstdint>

namespace ferry::device {

std::int64_t now_ns();

// Both at best, measured once a process.
struct ClockFacts {
  std::int64_t overhead_ns = 0;    // what two readings with nothing between them differ by
  std::int64_t resolution_ns = 1;  // the smallest difference that it shows
};
const ClockFacts& clock_facts();

inline std::int64_t clock_overhead_ns() { return clock_facts().overhead_ns; }

}  // namespace ferry::device
