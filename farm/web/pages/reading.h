// Formats what a farm reports for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ferry::farm::http {

std::string duration_text(std::uint64_t milliseconds);  // "850 ms", "4 s", "12 min", "2 h 5 min", "3 d 4 h"
std::string temperature_text(std::optional<std::int32_t> millidegrees);  // "54.3 °C", "none" without a sensor
std::string load_text(std::uint32_t permille);                           // "1.25"
std::string picoseconds_text(std::uint64_t picoseconds);                 // "1.23 ms", "failed" for 0
// UTC, of milliseconds since 1970. Both are "out of range" from the year 10000 on.
std::string time_text(std::uint64_t milliseconds);      // "2026-03-01 08:50:36"
std::string iso_time_text(std::uint64_t milliseconds);  // "2026-03-01T08:50:36Z"

}  // namespace ferry::farm::http
