#include "host/gate/store/file_name.h"

#include <cstdint>
#include <span>

#include "base/hex.h"
#include "ferry/hash.h"

namespace ferry::gate {

namespace {

constexpr std::size_t kLongest = 180;  // file systems allow 255 bytes, with an extension

bool is_plain(char c, bool first) {
  const bool alphanumeric = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return alphanumeric || c == '_' || (!first && (c == '-' || c == '.'));
}

}  // namespace

std::string file_name(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (is_plain(c, text.empty())) {
      text += c;
    } else {
      const auto byte = static_cast<std::uint8_t>(c);
      text += "%" + hex_text(std::span(&byte, 1));
    }
  }
  if (name.empty()) return "%";
  if (text.size() <= kLongest) return text;
  const Hash hash = blake2b({reinterpret_cast<const std::uint8_t*>(name.data()), name.size()});
  // In other names two digits follow each %.
  return text.substr(0, kLongest - 66) + "%." + to_hex(hash);
}

std::optional<std::string> name_of_file(std::string_view file) {
  std::string name;
  if (file != "%") {
    for (std::size_t i = 0; i < file.size(); ++i) {
      std::uint8_t byte = 0;
      if (file[i] != '%') {
        name += file[i];
      } else if (parse_hex(file.substr(i + 1, 2), std::span(&byte, 1))) {
        name += static_cast<char>(byte);
        i += 2;
      } else {
        return std::nullopt;
      }
    }
  }
  return file_name(name) == file ? std::optional(name) : std::nullopt;
}

}  // namespace ferry::gate
