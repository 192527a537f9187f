// Parses quantities as users write them in a suite.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ferry::gate {

// Each returns nothing for another form, and for what is no finite number.
std::optional<double> parse_percent(std::string_view text);            // "2%" or "0.5 %" as 0.02 or 0.005
std::optional<double> parse_seconds(std::string_view text);            // "800ns", "3 us", "1.5ms", "2s", "1min"
std::optional<std::uint64_t> parse_byte_count(std::string_view text);  // "512", "40K", "1.5 MiB", "2G": powers of 1024

}  // namespace ferry::gate
