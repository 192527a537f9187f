#include "rpc/secure/cipher.h"

// In the version of Debian 12, libsodium supports AES-256-GCM only on x86.
#if defined(__x86_64__)
#include <sodium/core.h>
#include <sodium/crypto_aead_aes256gcm.h>

#include <array>
#endif

namespace ferry::secure {

#if defined(__x86_64__)

namespace {

struct AesNonce {
  std::array<std::uint8_t, crypto_aead_aes256gcm_NPUBBYTES> bytes{};
  // 32 zero bits and the counter, big-endian; ChaChaPoly's counter is little-endian.
  explicit AesNonce(std::uint64_t counter) {
    for (std::size_t i = 0; i < 8; ++i) bytes[11 - i] = static_cast<std::uint8_t>(counter >> (8 * i));
  }
};

}  // namespace

Ciphers fast_ciphers() {
  // sodium_init() detects the processor's features.
  static const bool has_aes = sodium_init() >= 0 && crypto_aead_aes256gcm_is_available() == 1;
  return has_aes ? 1 << static_cast<unsigned>(Cipher::aes_gcm) : kNoOther;
}

void encrypt(Cipher cipher, const KeyBytes& key, std::uint64_t nonce, ByteSpan associated, ByteSpan plain,
             std::uint8_t* out) {
  switch (cipher) {
    case Cipher::chacha_poly: encrypt(key, nonce, associated, plain, out); break;
    case Cipher::aes_gcm:
      crypto_aead_aes256gcm_encrypt(out, nullptr, plain.data(), plain.size(), associated.data(), associated.size(),
                                    nullptr, AesNonce(nonce).bytes.data(), key.data());
      break;
  }
}

bool decrypt(Cipher cipher, const KeyBytes& key, std::uint64_t nonce, ByteSpan associated, ByteSpan sealed,
             std::uint8_t* out) {
  switch (cipher) {
    case Cipher::chacha_poly: return decrypt(key, nonce, associated, sealed, out);
    case Cipher::aes_gcm:
      return crypto_aead_aes256gcm_decrypt(out, nullptr, nullptr, sealed.data(), sealed.size(), associated.data(),
                                           associated.size(), AesNonce(nonce).bytes.data(), key.data()) == 0;
  }
  return false;
}

#else

Ciphers fast_ciphers() { return kNoOther; }

void encrypt(Cipher, const KeyBytes& key, std::uint64_t nonce, ByteSpan associated, ByteSpan plain, std::uint8_t* out) {
  encrypt(key, nonce, associated, plain, out);
}

bool decrypt(Cipher, const KeyBytes& key, std::uint64_t nonce, ByteSpan associated, ByteSpan sealed,
             std::uint8_t* out) {
  return decrypt(key, nonce, associated, sealed, out);
}

#endif

Cipher choose_cipher(Ciphers ours, Ciphers theirs) {
  const unsigned both = ours & theirs;
  return (both >> static_cast<unsigned>(Cipher::aes_gcm) & 1) != 0 ? Cipher::aes_gcm : Cipher::chacha_poly;
}

}  // namespace ferry::secure
