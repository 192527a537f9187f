// The clock of all timings: it never jumps and is not slewed by time synchronisation.
#pragma once

#include <cstdint>

namespace ferry::device {

std::int64_t now_ns();

// What two readings of the clock with nothing between them differ by, at best; measured once a process.
std::int64_t clock_overhead_ns();

}  // namespace ferry::device
