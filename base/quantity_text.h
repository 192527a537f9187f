// Formats numbers for reading.
#pragma once

#include <cstdint>
#include <string>

#include "base/format.h"

namespace ferry {

std::string seconds_text(double seconds);                    // "812 ns", "12.3 us", "1.23 ms", "4.56 s"
std::string bytes_text(std::uint64_t bytes);                 // "512 bytes", "14.9 KiB", "2.00 GiB"
std::string rate_text(double per_second, const char* unit);  // "217 GFLOP/s", "9.81 GB/s"
std::string number_text(double value, int digits = 3);       // with this many significant digits
std::string percent_text(double fraction);                   // "49%", "0.3%"
std::string span_text(std::uint64_t milliseconds);           // "850 ms", "4 s", "12 min", "2 h 5 min", "3 d 4 h"
// UTC, of milliseconds since 1970. Both are "out of range" from the year 10000 on.
std::string time_text(std::uint64_t milliseconds);      // "2026-03-01 08:50:36"
std::string iso_time_text(std::uint64_t milliseconds);  // "2026-03-01T08:50:36Z"
std::string join(const std::string& separator, const auto& texts) {
  std::string joined;
  for (const auto& text : texts) joined += (joined.empty() ? "" : separator) + text;
  return joined;
}

}  // namespace ferry
