// Bytes as hexadecimal digits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ferry {

// Returns two lower-case digits for each byte.
std::string hex_text(std::span<const std::uint8_t> bytes);
// Fills all of `bytes`. Returns false if the text has another length, or anything but lower-case digits.
bool parse_hex(std::string_view text, std::span<std::uint8_t> bytes);

}  // namespace ferry
