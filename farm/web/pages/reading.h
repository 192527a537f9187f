// Formats what a farm reports for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ferry::farm::http {

std::string temperature_text(std::optional<std::int32_t> millidegrees);  // "54.3 °C", "none" without a sensor
std::string load_text(std::uint32_t permille);                           // "1.25"
std::string picoseconds_text(std::uint64_t picoseconds);                 // "1.23 ms", "failed" for 0

}  // namespace ferry::farm::http
