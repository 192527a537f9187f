// The ciphers of records: Noise's ChaChaPoly, and AESGCM for ends whose processors have instructions for it, which is
// about twice as fast there. Without the instructions AES is slow, or tells of the key by the time it takes, so it is
// not offered.
#pragma once

#include <cstdint>

#include "rpc/secure/noise.h"

namespace ferry::secure {

// As PROTOCOL.md numbers them.
enum class Cipher : std::uint8_t { chacha_poly = 0, aes_gcm = 1 };

// A set, bit n for the cipher with number n. Everybody has ChaChaPoly, which is in none.
using Ciphers = std::uint8_t;
inline constexpr Ciphers kNoOther = 0;
// Those that this machine has instructions for, beside ChaChaPoly.
Ciphers fast_ciphers();
// The fastest that both sides have.
Cipher choose_cipher(Ciphers ours, Ciphers theirs);

// As encrypt() and decrypt() of noise.h, with this cipher.
void encrypt(Cipher cipher, const KeyBytes& key, std::uint64_t nonce, ByteSpan associated, ByteSpan plain,
             std::uint8_t* out);
[[nodiscard]] bool decrypt(Cipher cipher, const KeyBytes& key, std::uint64_t nonce, ByteSpan associated,
                           ByteSpan sealed, std::uint8_t* out);

}  // namespace ferry::secure
