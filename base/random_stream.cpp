#include "base/random_stream.h"

#include <sodium/crypto_stream_chacha20.h>

#include <cstring>

#include "ferry/hash.h"

namespace ferry {

RandomStream::RandomStream(const SecretSeed& seed) {
  std::array<std::uint8_t, 2 * sizeof seed.low> bytes{};
  std::memcpy(bytes.data(), &seed.low, sizeof seed.low);
  std::memcpy(bytes.data() + sizeof seed.low, &seed.high, sizeof seed.high);
  const Hash hash = blake2b(bytes);
  static_assert(sizeof key_ == crypto_stream_chacha20_KEYBYTES && sizeof hash >= sizeof key_);
  std::memcpy(key_.data(), hash.data(), key_.size());
}

void RandomStream::fill() {
  // Each nonce is used once, for the next words.
  std::array<std::uint8_t, crypto_stream_chacha20_NONCEBYTES> nonce{};
  std::memcpy(nonce.data(), &block_, sizeof block_);
  ++block_;
  crypto_stream_chacha20(reinterpret_cast<std::uint8_t*>(words_.data()), sizeof words_, nonce.data(), key_.data());
  used_ = 0;
}

std::uint64_t RandomStream::next() {
  if (used_ == words_.size()) fill();
  return words_[used_++];
}

}  // namespace ferry
