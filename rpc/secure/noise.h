// The Noise protocol framework, revision 34 (noiseprotocol.org), for the single protocol
// Noise_NNpsk0_25519_ChaChaPoly_BLAKE2b. Both sides hold the same 32-byte pre-shared key and derive a fresh pair of
// transport keys from it, so recorded traffic stays secret even if the key leaks later.
//
//     -> psk, e
//     <- e, ee
//
// The primitives are libsodium's; this file implements only the state that Noise defines around them. Names are those
// of the specification.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "rpc/secure/secret.h"

namespace ferry::secure {

using ByteSpan = std::span<const std::uint8_t>;
using MutableByteSpan = std::span<std::uint8_t>;

inline constexpr std::size_t kKeyBytes = 32;
inline constexpr std::size_t kTagBytes = 16;
inline constexpr std::size_t kPublicKeyBytes = 32;
// Size of either handshake message with an empty payload.
inline constexpr std::size_t kHandshakeBytes = kPublicKeyBytes + kTagBytes;
// Upper bound of a message, excluding the length in front of it.
inline constexpr std::size_t kMaxMessageBytes = 65535;

using KeyBytes = SecretBytes<kKeyBytes>;
using NoiseHash = std::array<std::uint8_t, 64>;
// A hash from which keys are derived.
using SecretHash = SecretBytes<64>;

// ENCRYPT and DECRYPT: ChaCha20-Poly1305 with the 64-bit counter as nonce. `out` holds kTagBytes more than the
// plaintext and may be the same memory.
void encrypt(const KeyBytes& key, std::uint64_t nonce, ByteSpan associated, ByteSpan plain, std::uint8_t* out);
// Returns false, and writes nothing, if the bytes were not produced with this key, nonce and associated data.
[[nodiscard]] bool decrypt(const KeyBytes& key, std::uint64_t nonce, ByteSpan associated, ByteSpan sealed,
                           std::uint8_t* out);

// The keys after the handshake, one per direction. The initiator sends with to_responder and receives with
// to_initiator; the responder does the opposite.
struct TransportKeys {
  KeyBytes to_responder;
  KeyBytes to_initiator;
};

enum class Role : std::uint8_t { initiator, responder };

class NoiseHandshake {
 public:
  // Generates a fresh ephemeral key pair.
  NoiseHandshake(Role role, ByteSpan prologue, const KeyBytes& psk);
  // Uses the given secret ephemeral key; only for test vectors.
  NoiseHandshake(Role role, ByteSpan prologue, const KeyBytes& psk, const KeyBytes& ephemeral);
  NoiseHandshake(const NoiseHandshake&) = delete;
  NoiseHandshake& operator=(const NoiseHandshake&) = delete;

  // Returns this side's next message. Fails with unauthenticated if the peer's public key is not one that a legitimate
  // peer would choose.
  Result<std::vector<std::uint8_t>> write_message(ByteSpan payload = {});
  // Processes the peer's message and returns its payload. Fails with unauthenticated if it was not made with our key
  // and prologue.
  Result<std::vector<std::uint8_t>> read_message(ByteSpan message);

  // Valid, like handshake_hash(), once both messages have been processed.
  TransportKeys split() const;
  const NoiseHash& handshake_hash() const { return hash_; }

 private:
  void mix_hash(ByteSpan data);
  void mix_key(ByteSpan material);
  void mix_key_and_hash(ByteSpan material);
  std::vector<std::uint8_t> encrypt_and_hash(ByteSpan plain);
  Result<std::vector<std::uint8_t>> decrypt_and_hash(ByteSpan sealed);
  void mix_ephemeral(ByteSpan public_key);
  Status mix_shared_secret();

  Role role_;
  NoiseHash hash_{};
  SecretHash chaining_key_;
  KeyBytes key_;
  std::uint64_t nonce_ = 0;
  KeyBytes ephemeral_;
  std::array<std::uint8_t, kPublicKeyBytes> public_{};
  std::array<std::uint8_t, kPublicKeyBytes> remote_{};
  int messages_ = 0;
};

// Fills the memory with unpredictable random bytes.
void fill_with_random(MutableByteSpan bytes);

}  // namespace ferry::secure
