#include "rpc/secure/noise.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/unit/rpc/secure/hex.h"

namespace ferry::secure {
namespace {

using test::from_hex;
using Bytes = std::vector<std::uint8_t>;

KeyBytes key_of(std::string_view text) {
  const Bytes bytes = from_hex(text);
  KeyBytes key{};
  std::copy(bytes.begin(), bytes.end(), key.begin());
  return key;
}

Bytes sealed(const KeyBytes& key, std::uint64_t nonce, const Bytes& plain) {
  Bytes out(plain.size() + kTagBytes);
  encrypt(key, nonce, {}, plain, out.data());
  return out;
}

// The test vector of Noise_NNpsk0_25519_ChaChaPoly_BLAKE2b from the cacophony implementation's collection.
const KeyBytes kPsk = key_of("54686973206973206d7920417573747269616e20706572737065637469766521");
const Bytes kPrologue = from_hex("4a6f686e2047616c74");
const KeyBytes kInitiatorEphemeral = key_of("893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a");
const KeyBytes kResponderEphemeral = key_of("bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b");

TEST_CASE("the published vector of NNpsk0 comes out byte for byte") {
  NoiseHandshake initiator(Role::initiator, kPrologue, kPsk, kInitiatorEphemeral);
  NoiseHandshake responder(Role::responder, kPrologue, kPsk, kResponderEphemeral);

  const Bytes first_payload = from_hex("4c756477696720766f6e204d69736573");
  const auto first = initiator.write_message(first_payload);
  REQUIRE(first.is_ok());
  CHECK(first.value() ==
        from_hex("ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c7944ed63df2f5a12aee1185ee9"
                 "c50305f2ecf12421dcb53c047a63b784cf7c54a105"));
  const auto first_read = responder.read_message(first.value());
  REQUIRE(first_read.is_ok());
  CHECK(first_read.value() == first_payload);

  const Bytes second_payload = from_hex("4d757272617920526f746862617264");
  const auto second = responder.write_message(second_payload);
  REQUIRE(second.is_ok());
  CHECK(second.value() ==
        from_hex("95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f1448088430e0fe7d5c0c9b92f7478"
                 "716c8852f1b4f389edb75e3ebe546fafafd5b6f0f7"));
  const auto second_read = initiator.read_message(second.value());
  REQUIRE(second_read.is_ok());
  CHECK(second_read.value() == second_payload);

  const Bytes hash = from_hex(
      "ed5e9692d0ab507b6c2beec3f584fd5b127817a9d20b26cd50aa72c507260fa31aa7d88dd3723316338af37ce0b4cfb2923aeb848bbf2b93"
      "491"
      "1306f01ffc963");
  CHECK(std::equal(hash.begin(), hash.end(), initiator.handshake_hash().begin(), initiator.handshake_hash().end()));
  CHECK(initiator.handshake_hash() == responder.handshake_hash());

  const TransportKeys keys = initiator.split();
  CHECK(responder.split().to_responder == keys.to_responder);
  CHECK(responder.split().to_initiator == keys.to_initiator);
  CHECK(sealed(keys.to_responder, 0, from_hex("462e20412e20486179656b")) ==
        from_hex("0fe04b26dcfbb69f8a6a94c61f1a26ef88769218d32f5d17c068a6"));
  CHECK(sealed(keys.to_initiator, 0, from_hex("4361726c204d656e676572")) ==
        from_hex("2239e0c540c01f09eb1f4cc5258fd5acfefff18a5a3773f21b7bfe"));
  CHECK(sealed(keys.to_responder, 1, from_hex("4a65616e2d426170746973746520536179")) ==
        from_hex("f216cb03d30fb8af1e561fe02a07552d09b416e27a75e62c77d193718b0bdaae9f"));
  CHECK(sealed(keys.to_initiator, 1, from_hex("457567656e2042f6686d20766f6e2042617765726b")) ==
        from_hex("6e8baf98b944184dd7dc5ef14d8108cbeca626de118a5460f3308e294d61e17238bce29bd9"));
}

TEST_CASE("two ends with one key agree on fresh keys every time") {
  TransportKeys last;
  for (int round = 0; round < 3; ++round) {
    NoiseHandshake initiator(Role::initiator, kPrologue, kPsk);
    NoiseHandshake responder(Role::responder, kPrologue, kPsk);
    REQUIRE(responder.read_message(initiator.write_message().value()).is_ok());
    REQUIRE(initiator.read_message(responder.write_message().value()).is_ok());
    CHECK(initiator.split().to_responder == responder.split().to_responder);
    CHECK(initiator.split().to_initiator != initiator.split().to_responder);
    CHECK(initiator.split().to_responder != last.to_responder);
    last = initiator.split();
  }
}

TEST_CASE("another key or another prologue is refused with the first message") {
  KeyBytes other = kPsk;
  other[31] ^= 1;
  Bytes prologue = kPrologue;
  prologue[0] ^= 1;
  const Bytes message = NoiseHandshake(Role::initiator, kPrologue, kPsk).write_message().value();
  CHECK(NoiseHandshake(Role::responder, kPrologue, other).read_message(message).status().code() ==
        ErrorCode::unauthenticated);
  CHECK(NoiseHandshake(Role::responder, prologue, kPsk).read_message(message).status().code() ==
        ErrorCode::unauthenticated);
}

TEST_CASE("a changed bit or a missing byte anywhere in a handshake message is refused") {
  NoiseHandshake initiator(Role::initiator, kPrologue, kPsk);
  const Bytes message = initiator.write_message().value();
  for (std::size_t bit = 0; bit < 8 * message.size(); ++bit) {
    Bytes changed = message;
    changed[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    CAPTURE(bit);
    CHECK_FALSE(NoiseHandshake(Role::responder, kPrologue, kPsk).read_message(changed).is_ok());
  }
  for (std::size_t length = 0; length < message.size(); ++length) {
    CAPTURE(length);
    CHECK_FALSE(NoiseHandshake(Role::responder, kPrologue, kPsk).read_message(ByteSpan(message).first(length)).is_ok());
  }
}

TEST_CASE("a public key that would make the shared secret zero is refused") {
  // The message is otherwise valid, made by somebody who holds the key.
  const KeyBytes nothing{};
  NoiseHandshake responder(Role::responder, kPrologue, kPsk);
  NoiseHandshake initiator(Role::initiator, kPrologue, kPsk, nothing);
  Bytes message = initiator.write_message().value();
  REQUIRE(responder.read_message(message).is_ok());
  CHECK(responder.write_message().is_ok());  // an all-zero private key is clamped to a usable one
  NoiseHandshake victim(Role::initiator, kPrologue, kPsk);
  REQUIRE(victim.write_message().is_ok());
  Bytes answer(kHandshakeBytes, 0);  // the point of order one
  CHECK(victim.read_message(answer).status().code() == ErrorCode::unauthenticated);
}

}  // namespace
}  // namespace ferry::secure
