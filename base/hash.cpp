#include "ferry/hash.h"

#include <sodium/crypto_generichash.h>

namespace ferry {

Hash blake2b(std::span<const std::uint8_t> bytes) {
  Hash hash{};
  crypto_generichash(hash.data(), hash.size(), bytes.data(), bytes.size(), nullptr, 0);
  return hash;
}

std::string to_hex(const Hash& hash) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * hash.size());
  for (const std::uint8_t byte : hash) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace ferry
