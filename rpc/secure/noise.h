// The Noise protocol framework, revision 34 (noiseprotocol.org), for one protocol:
// Noise_NNpsk0_25519_ChaChaPoly_BLAKE2b. Both sides hold the same 32-byte key beforehand and make a fresh pair of
// transport keys out of it, so what was recorded stays secret when the key leaks later.
//
//     -> psk, e
//     <- e, ee
//
// The primitives are libsodium's; only the state that Noise defines around them is here. Names are the specification's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rpc/base/status.h"
#include "rpc/secure/secret.h"

namespace ferry::secure {

using ByteSpan = std::span<const std::uint8_t>;
using MutableByteSpan = std::span<std::uint8_t>;

inline constexpr std::size_t kKeyBytes = 32;
inline constexpr std::size_t kTagBytes = 16;
inline constexpr std::size_t kPublicKeyBytes = 32;
// Either message with an empty payload.
inline constexpr std::size_t kHandshakeBytes = kPublicKeyBytes + kTagBytes;
// No message is longer, length in front not counted.
inline constexpr std::size_t kMaxMessageBytes = 65535;

using KeyBytes = SecretBytes<kKeyBytes>;
using NoiseHash = std::array<std::uint8_t, 64>;
// A hash that keys are made of.
using SecretHash = SecretBytes<64>;

// ENCRYPT and DECRYPT: ChaCha20-Poly1305 with the 64-bit counter as nonce. `out` is kTagBytes longer than the
// plaintext, and may be the input's own place.
void encrypt(const KeyBytes& key, std::uint64_t nonce, ByteSpan associated, ByteSpan plain, std::uint8_t* out);
// False, with nothing written, when the bytes were not made with this key, nonce and associated data.
[[nodiscard]] bool decrypt(const KeyBytes& key, std::uint64_t nonce, ByteSpan associated, ByteSpan sealed,
                           std::uint8_t* out);

// One direction's key after the handshake, for the initiator to send with and the responder to receive, or the other
// way round.
struct TransportKeys {
  KeyBytes to_responder;
  KeyBytes to_initiator;
};

enum class Role : std::uint8_t { initiator, responder };

class NoiseHandshake {
 public:
  // With a fresh ephemeral key pair.
  NoiseHandshake(Role role, ByteSpan prologue, const KeyBytes& psk);
  // With a given secret ephemeral key: for test vectors alone.
  NoiseHandshake(Role role, ByteSpan prologue, const KeyBytes& psk, const KeyBytes& ephemeral);
  NoiseHandshake(const NoiseHandshake&) = delete;
  NoiseHandshake& operator=(const NoiseHandshake&) = delete;

  // The message that is this side's turn. unauthenticated when the peer's public key is none that a peer would choose.
  Result<std::vector<std::uint8_t>> write_message(ByteSpan payload = {});
  // The peer's, and the payload in it. unauthenticated when it was not made with our key and prologue.
  Result<std::vector<std::uint8_t>> read_message(ByteSpan message);

  // Both once both messages are through.
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

// Bytes that nobody can foresee.
void fill_with_random(MutableByteSpan bytes);

}  // namespace ferry::secure
