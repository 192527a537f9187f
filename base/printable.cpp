#include "base/printable.h"

#include <cstdint>

namespace ferry {
namespace {

// Returns the length of the first character of the text and sets its code point; returns 0 if it is not valid UTF-8
// (RFC 3629).
std::size_t decode(std::string_view text, std::uint32_t& code) {
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

bool is_hidden(std::uint32_t code) {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true;  // C0, DEL, C1
  // Soft hyphen, directional marks, line and paragraph separators, isolates, tags, and characters without width.
  return code == 0xad || code == 0x61c || (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || (code >= 0xfff9 && code <= 0xfffb) ||
         (code >= 0xe0000 && code <= 0xe007f);
}

void append_escaped(std::string& result, char letter) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto byte = static_cast<std::uint8_t>(letter);
  switch (letter) {
    case '\n': result += "\\n"; return;
    case '\t': result += "\\t"; return;
    case '\r': result += "\\r"; return;
  }
  result += "\\x";
  result += kDigits[byte >> 4];
  result += kDigits[byte & 15];
}

std::string escape(std::string_view text, bool keep_lines) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    std::uint32_t code = 0;
    std::size_t length = decode(text, code);
    const bool kept = keep_lines && (code == '\n' || code == '\t');
    if (length != 0 && (kept || !is_hidden(code))) {
      result += text.substr(0, length);
    } else {
      if (length == 0) length = 1;
      for (const char letter : text.substr(0, length)) append_escaped(result, letter);
    }
    text.remove_prefix(length);
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) { return escape(text, false); }

std::string printable_lines(std::string_view text) { return escape(text, true); }

}  // namespace ferry
