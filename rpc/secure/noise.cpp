#include "rpc/secure/noise.h"

#include <sodium/core.h>
#include <sodium/crypto_aead_chacha20poly1305.h>
#include <sodium/crypto_generichash_blake2b.h>
#include <sodium/crypto_scalarmult_curve25519.h>
#include <sodium/randombytes.h>

#include <algorithm>
#include <string_view>

namespace ferry::secure {
namespace {

constexpr std::string_view kProtocolName = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2b";
constexpr std::size_t kHashBytes = 64;
constexpr std::size_t kBlockBytes = 128;
constexpr std::uint8_t kBasePoint[kPublicKeyBytes] = {9};

// Lets libsodium select the fastest implementation for this CPU. Without this call it works, but more slowly.
void prepare_library() { [[maybe_unused]] static const int ready = sodium_init(); }

struct Nonce {
  std::array<std::uint8_t, crypto_aead_chacha20poly1305_ietf_NPUBBYTES> bytes{};
  // 32 zero bits and the counter, little-endian.
  explicit Nonce(std::uint64_t counter) {
    for (std::size_t i = 0; i < 8; ++i) bytes[4 + i] = static_cast<std::uint8_t>(counter >> (8 * i));
  }
};

class Blake2b {
 public:
  Blake2b() { crypto_generichash_blake2b_init(&state_, nullptr, 0, kHashBytes); }
  Blake2b(const Blake2b&) = delete;
  Blake2b& operator=(const Blake2b&) = delete;
  ~Blake2b() { wipe(&state_, sizeof state_); }
  Blake2b& update(ByteSpan bytes) {
    crypto_generichash_blake2b_update(&state_, bytes.data(), bytes.size());
    return *this;
  }
  template <class Hash>
  Hash finish() {
    Hash hash;
    crypto_generichash_blake2b_final(&state_, hash.data(), hash.size());
    return hash;
  }

 private:
  crypto_generichash_blake2b_state state_;
};

// HMAC-HASH of RFC 2104.
SecretHash hmac(const SecretHash& key, ByteSpan first, ByteSpan second = {}) {
  SecretBytes<kBlockBytes> inner, outer;
  std::copy(key.begin(), key.end(), inner.begin());
  std::copy(key.begin(), key.end(), outer.begin());
  for (std::uint8_t& byte : inner) byte ^= 0x36;
  for (std::uint8_t& byte : outer) byte ^= 0x5c;
  const auto hash = Blake2b().update(inner).update(first).update(second).finish<SecretHash>();
  return Blake2b().update(outer).update(hash).finish<SecretHash>();
}

// HKDF of the specification with three outputs; callers that need two ignore the third.
std::array<SecretHash, 3> hkdf(const SecretHash& chaining_key, ByteSpan material) {
  const SecretHash temporary = hmac(chaining_key, material);
  std::array<SecretHash, 3> outputs;
  std::uint8_t counter = 1;
  outputs[0] = hmac(temporary, ByteSpan(&counter, 1));
  counter = 2;
  outputs[1] = hmac(temporary, outputs[0], ByteSpan(&counter, 1));
  counter = 3;
  outputs[2] = hmac(temporary, outputs[1], ByteSpan(&counter, 1));
  return outputs;
}

KeyBytes truncated(const SecretHash& hash) {
  KeyBytes key;
  std::copy_n(hash.begin(), key.size(), key.begin());
  return key;
}

KeyBytes random_key() {
  KeyBytes key;
  fill_with_random(key);
  return key;
}

Status wrong_key() { return {ErrorCode::unauthenticated, "the other side holds another key"}; }

}  // namespace

void fill_with_random(MutableByteSpan bytes) {
  prepare_library();
  randombytes_buf(bytes.data(), bytes.size());
}

void encrypt(const KeyBytes& key, std::uint64_t nonce, ByteSpan associated, ByteSpan plain, std::uint8_t* out) {
  crypto_aead_chacha20poly1305_ietf_encrypt(out, nullptr, plain.data(), plain.size(), associated.data(),
                                            associated.size(), nullptr, Nonce(nonce).bytes.data(), key.data());
}

bool decrypt(const KeyBytes& key, std::uint64_t nonce, ByteSpan associated, ByteSpan sealed, std::uint8_t* out) {
  return crypto_aead_chacha20poly1305_ietf_decrypt(out, nullptr, nullptr, sealed.data(), sealed.size(),
                                                   associated.data(), associated.size(), Nonce(nonce).bytes.data(),
                                                   key.data()) == 0;
}

NoiseHandshake::NoiseHandshake(Role role, ByteSpan prologue, const KeyBytes& psk)
    : NoiseHandshake(role, prologue, psk, random_key()) {}

NoiseHandshake::NoiseHandshake(Role role, ByteSpan prologue, const KeyBytes& psk, const KeyBytes& ephemeral)
    : role_(role), ephemeral_(ephemeral) {
  prepare_library();
  static_assert(kProtocolName.size() <= kHashBytes, "a longer name would have to be hashed");
  std::copy(kProtocolName.begin(), kProtocolName.end(), hash_.begin());
  std::copy(hash_.begin(), hash_.end(), chaining_key_.begin());
  mix_hash(prologue);
  mix_key_and_hash(psk);
}

Result<std::vector<std::uint8_t>> NoiseHandshake::write_message(ByteSpan payload) {
  // Uses the general scalar multiplication: the faster one for the base point needs 30 KB of tables.
  if (crypto_scalarmult_curve25519(public_.data(), ephemeral_.data(), kBasePoint) != 0) return wrong_key();
  mix_ephemeral(public_);
  if (messages_++ == 1) FERRY_TRY(mix_shared_secret());
  std::vector<std::uint8_t> message(public_.begin(), public_.end());
  const std::vector<std::uint8_t> sealed = encrypt_and_hash(payload);
  message.insert(message.end(), sealed.begin(), sealed.end());
  return message;
}

Result<std::vector<std::uint8_t>> NoiseHandshake::read_message(ByteSpan message) {
  if (message.size() < kHandshakeBytes) return wrong_key();
  std::copy_n(message.begin(), remote_.size(), remote_.begin());
  mix_ephemeral(remote_);
  if (messages_++ == 1) FERRY_TRY(mix_shared_secret());
  return decrypt_and_hash(message.subspan(remote_.size()));
}

TransportKeys NoiseHandshake::split() const {
  const auto outputs = hkdf(chaining_key_, {});
  return {truncated(outputs[0]), truncated(outputs[1])};
}

void NoiseHandshake::mix_hash(ByteSpan data) { hash_ = Blake2b().update(hash_).update(data).finish<NoiseHash>(); }

void NoiseHandshake::mix_key(ByteSpan material) {
  const auto outputs = hkdf(chaining_key_, material);
  chaining_key_ = outputs[0];
  key_ = truncated(outputs[1]);
  nonce_ = 0;
}

void NoiseHandshake::mix_key_and_hash(ByteSpan material) {
  const auto outputs = hkdf(chaining_key_, material);
  chaining_key_ = outputs[0];
  mix_hash(outputs[1]);
  key_ = truncated(outputs[2]);
  nonce_ = 0;
}

std::vector<std::uint8_t> NoiseHandshake::encrypt_and_hash(ByteSpan plain) {
  std::vector<std::uint8_t> sealed(plain.size() + kTagBytes);
  encrypt(key_, nonce_++, hash_, plain, sealed.data());
  mix_hash(sealed);
  return sealed;
}

Result<std::vector<std::uint8_t>> NoiseHandshake::decrypt_and_hash(ByteSpan sealed) {
  std::vector<std::uint8_t> plain(sealed.size() - kTagBytes);
  if (!decrypt(key_, nonce_++, hash_, sealed, plain.data())) return wrong_key();
  mix_hash(sealed);
  return plain;
}

// With a pre-shared key, ephemeral keys are also mixed into the chaining key (section 9.2).
void NoiseHandshake::mix_ephemeral(ByteSpan public_key) {
  mix_hash(public_key);
  mix_key(public_key);
}

Status NoiseHandshake::mix_shared_secret() {
  SecretBytes<kPublicKeyBytes> secret;
  // The function fails for points of small order, for which the result would be zero.
  if (crypto_scalarmult_curve25519(secret.data(), ephemeral_.data(), remote_.data()) != 0) return wrong_key();
  mix_key(secret);
  return {};
}

}  // namespace ferry::secure
