#include "rpc/secure/cipher.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/unit/rpc/secure/hex.h"

namespace ferry::secure {
namespace {

using Bytes = std::vector<std::uint8_t>;
using test::from_hex;

constexpr Ciphers kAes = 1 << static_cast<unsigned>(Cipher::aes_gcm);

Bytes sealed(const KeyBytes& key, std::uint64_t nonce, const Bytes& plain, const Bytes& associated = {}) {
  Bytes out(plain.size() + kTagBytes);
  encrypt(Cipher::aes_gcm, key, nonce, associated, plain, out.data());
  return out;
}

bool has_aes() {
  if (fast_ciphers() == kAes) return true;
  MESSAGE("skipped: this machine has no instructions for AES, or its libsodium no use for them");
  return false;
}

TEST_CASE("the fastest cipher that both ends have is chosen") {
  CHECK(choose_cipher(kAes, kAes) == Cipher::aes_gcm);
  CHECK(choose_cipher(kAes, kNoOther) == Cipher::chacha_poly);
  CHECK(choose_cipher(kNoOther, kAes) == Cipher::chacha_poly);
  // The other end is of a later version, with further ciphers.
  CHECK(choose_cipher(kAes, 0xfc) == Cipher::chacha_poly);
  CHECK(choose_cipher(kAes, 0xff) == Cipher::aes_gcm);
}

// Test cases from "The Galois/Counter Mode of Operation", McGrew and Viega, appendix B.
TEST_CASE("AES-256-GCM is that of the published test cases 13 and 14") {
  if (!has_aes()) return;
  const KeyBytes zeros{};
  CHECK(sealed(zeros, 0, {}) == from_hex("530f8afbc74536b9a963b4f1c4cb738b"));
  CHECK(sealed(zeros, 0, Bytes(16)) == from_hex("cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"));
}

// The nonce, by section 12.4 of Noise, is 32 bits of zeros and the big-endian counter. AES-GCM's first block of key
// stream is then AES(key, nonce | 2), where a carry from one nonce to the next would show up in the wrong place.
TEST_CASE("every number makes another record, and only that number opens it") {
  if (!has_aes()) return;
  KeyBytes key{};
  key[0] = 1;
  const Bytes plain(100, 7);
  for (const std::uint64_t number :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{256}, std::uint64_t{1} << 32, ~std::uint64_t{1}}) {
    CAPTURE(number);
    const Bytes record = sealed(key, number, plain);
    for (const std::uint64_t other :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{256}, std::uint64_t{1} << 32, ~std::uint64_t{1}}) {
      Bytes opened(plain.size());
      CHECK(decrypt(Cipher::aes_gcm, key, other, {}, record, opened.data()) == (other == number));
      if (other == number) CHECK(opened == plain);
    }
  }
}

TEST_CASE("a record opens in its own place, and not when a bit of it, of the key or of what goes with it has changed") {
  if (!has_aes()) return;
  KeyBytes key{};
  key[31] = 9;
  const Bytes plain{1, 2, 3}, associated{4, 5};
  Bytes record = sealed(key, 5, plain, associated);
  for (std::size_t bit = 0; bit < 8 * record.size(); ++bit) {
    Bytes changed = record, opened(plain.size());
    changed[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    CHECK_FALSE(decrypt(Cipher::aes_gcm, key, 5, associated, changed, opened.data()));
  }
  Bytes opened(plain.size());
  CHECK_FALSE(decrypt(Cipher::aes_gcm, key, 5, {}, record, opened.data()));
  CHECK_FALSE(decrypt(Cipher::aes_gcm, KeyBytes{}, 5, associated, record, opened.data()));
  REQUIRE(decrypt(Cipher::aes_gcm, key, 5, associated, record, record.data()));
  record.resize(plain.size());
  CHECK(record == plain);
}

}  // namespace
}  // namespace ferry::secure
