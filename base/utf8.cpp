#include "base/utf8.h"

namespace ferry {

std::size_t decode_utf8(std::string_view text, std::uint32_t& code) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) {
    code = first;
    return 1;
  }
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  code = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (byte(i) >> 6 != 2) return 0;
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >> 11 == 0xd800 >> 11;
  return code < kLeast[length] || code > 0x10ffff || is_surrogate ? 0 : length;
}

bool is_utf8(std::string_view text) {
  std::uint32_t code = 0;
  while (!text.empty()) {
    const std::size_t length = decode_utf8(text, code);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string_view utf8_prefix(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && static_cast<std::uint8_t>(text[most]) >> 6 == 2) --most;
  return text.substr(0, most);
}

}  // namespace ferry
