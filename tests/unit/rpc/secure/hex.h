// Conversions between bytes and hexadecimal text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ferry::test {

inline std::vector<std::uint8_t> from_hex(std::string_view text) {
  const auto digit = [](char letter) { return letter <= '9' ? letter - '0' : letter - 'a' + 10; };
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(digit(text[i]) * 16 + digit(text[i + 1])));
  }
  return bytes;
}

}  // namespace ferry::test
