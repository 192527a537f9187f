#include "ferry/hash.h"

#include <sodium/crypto_generichash.h>

#include "base/hash_stream.h"
#include "base/hex.h"

namespace ferry {
namespace {

crypto_generichash_state* sodium_state(std::uint8_t* bytes) {
  return reinterpret_cast<crypto_generichash_state*>(bytes);
}

}  // namespace

Hash blake2b(std::span<const std::uint8_t> bytes) {
  HashStream stream;
  stream.add(bytes);
  return stream.finish();
}

HashStream::HashStream() {
  static_assert(sizeof state_ == sizeof(crypto_generichash_state) &&
                alignof(HashStream) >= alignof(crypto_generichash_state));
  crypto_generichash_init(sodium_state(state_), nullptr, 0, sizeof(Hash));
}

void HashStream::add(std::span<const std::uint8_t> piece) {
  crypto_generichash_update(sodium_state(state_), piece.data(), piece.size());
}

Hash HashStream::finish() {
  Hash hash{};
  crypto_generichash_final(sodium_state(state_), hash.data(), hash.size());
  return hash;
}

std::string to_hex(const Hash& hash) { return hex_text(hash); }

}  // namespace ferry
