// Reads quantities as users write them, in options, addresses and files. base/quantity_text.h writes them for reading.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ferry {

// Each returns nothing for another form, and for what is no finite number.
std::optional<double> parse_percent(std::string_view text);            // "2%" or "0.5 %" as 0.02 or 0.005
std::optional<double> parse_seconds(std::string_view text);            // "800ns", "3 us", "1.5ms", "2s", "1min"
std::optional<std::uint64_t> parse_byte_count(std::string_view text);  // "512", "40K", "1.5 MiB", "2G": powers of 1024

// Milliseconds from "90s", "30m", "1h30m" or "2d", at most a year.
std::optional<std::uint64_t> parse_span(std::string_view text);
// The same the other way: "8h", "1h30m", "0s", and "-1s" or "1.5s" for what cannot be written so.
std::string written_span(std::int64_t milliseconds);

}  // namespace ferry
