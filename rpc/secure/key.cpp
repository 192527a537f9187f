#include "rpc/secure/key.h"

#include <algorithm>

#include "base/format.h"
#include "base/hex.h"
#include "ferry/hash.h"

namespace ferry::secure {
namespace {

constexpr std::string_view kPrefix = "ferry-key-1:";
constexpr std::string_view kIdContext = "ferry key id";

// Unlike hex_text() it leaves no other copy of the key behind.
void append_hexadecimal(const KeyBytes& bytes, std::string& text) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
}

// Returns the value of a hexadecimal digit, or -1 for any other character.
int digit_of(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

std::string_view trimmed(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  return line;
}

bool read_digits(std::string_view text, KeyBytes& bytes) {
  if (text.size() != 2 * bytes.size()) return false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const int high = digit_of(text[2 * i]), low = digit_of(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    bytes[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return true;
}

}  // namespace

KeyId Key::id() const {
  SecretBytes<kIdContext.size() + kKeyBytes> named;
  std::copy(kIdContext.begin(), kIdContext.end(), named.begin());
  std::copy(bytes.begin(), bytes.end(), named.begin() + kIdContext.size());
  const Hash hash = blake2b(named);
  KeyId id;
  std::copy_n(hash.begin(), id.size(), id.begin());
  return id;
}

Key make_key() {
  Key key;
  fill_with_random(key.bytes);
  return key;
}

std::string to_text(const KeyId& id) { return hex_text(id); }

std::string to_file_text(const Key& key) {
  std::string text;
  text.reserve(256);
  text.append("# ferry key ").append(to_text(key.id())).append("\n").append(kPrefix);
  append_hexadecimal(key.bytes, text);
  text.append("\n");
  return text;
}

Result<Key> parse_key(std::string_view text) {
  // The message does not quote the line, which may be a key with a typing error.
  const auto refuse = [](unsigned line, const char* expected) {
    return Status(ErrorCode::invalid_argument, format("line %u: expected %s", line, expected));
  };
  Key key;
  bool found = false;
  for (unsigned number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    if (found) return refuse(number, "nothing after the key; a file holds one");
    if (line.substr(0, kPrefix.size()) != kPrefix || !read_digits(line.substr(kPrefix.size()), key.bytes)) {
      return refuse(number, "'ferry-key-1:' and 64 hexadecimal digits");
    }
    found = true;
  }
  if (!found) return Status(ErrorCode::invalid_argument, "expected a line 'ferry-key-1:' and 64 digits, got none");
  return key;
}

}  // namespace ferry::secure
