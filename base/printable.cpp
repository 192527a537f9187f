#include "base/printable.h"

#include <cstdint>

#include "base/utf8.h"

namespace ferry {
namespace {

bool is_hidden(std::uint32_t code) {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true;                     // C0, DEL, C1
  if ((code & 0xfffe) == 0xfffe || (code >= 0xfdd0 && code <= 0xfdef)) return true;  // no characters; XML refuses them
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
    std::size_t length = decode_utf8(text, code);
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
