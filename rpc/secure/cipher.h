// The ciphers of records: Noise's ChaChaPoly, and AESGCM for peers whose processors have instructions for it, where it
// is about twice as fast. Without these instructions AES is slow, or leaks the key through its timing, so it is not
// offered.
#pragma once

#include <cstdint>

#include "rpc/secure/noise.h"

namespace ferry::secure {

// Numbered as in PROTOCOL.md.
enum class Cipher : std::uint8_t { chacha_poly = 0, aes_gcm = 1 };

// A set of ciphers; bit n stands for the cipher with number n. Every peer supports ChaChaPoly, so no set contains it.
using Ciphers = std::uint8_t;
inline constexpr Ciphers kNoOther = 0;
// Returns the ciphers, besides ChaChaPoly, for which this machine has instructions.
Ciphers fast_ciphers();
// Returns the fastest cipher that both sides support.
Cipher choose_cipher(Ciphers ours, Ciphers theirs);

// Like encrypt() and decrypt() of noise.h, with this cipher.
void encrypt(Cipher cipher, const KeyBytes& key, std::uint64_t nonce, ByteSpan associated, ByteSpan plain,
             std::uint8_t* out);
[[nodiscard]] bool decrypt(Cipher cipher, const KeyBytes& key, std::uint64_t nonce, ByteSpan associated,
                           ByteSpan sealed, std::uint8_t* out);

}  // namespace ferry::secure
