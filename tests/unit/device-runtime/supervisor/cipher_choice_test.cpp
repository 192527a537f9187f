// Tests the choice of the cipher for a connection's records: the client offers, the server chooses, and nobody else can
// interfere.
#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "rpc/secure/record.h"
#include "rpc/wire/codec.h"
#include "tests/support/architectures/architectures.h"
#include "tests/unit/device-runtime/support/compile_kernel.h"
#include "tests/unit/device-runtime/support/key_files.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

using secure::Cipher;

constexpr secure::Ciphers kAes = 1 << static_cast<unsigned>(Cipher::aes_gcm);

// A client that offers these ciphers, up to the server's handshake message.
struct Offer {
  std::array<std::uint8_t, rpc::kPreambleBytes> prologue{};
  std::unique_ptr<Transport> transport;
  std::unique_ptr<secure::NoiseHandshake> noise;

  Offer(const TestServer& server, const secure::Key& key, secure::Ciphers ciphers)
      : transport(connect_to(server.port())) {
    rpc::Preamble preamble;
    preamble.mode = rpc::PreambleMode::encrypted;
    preamble.key_id = key.id();
    preamble.ciphers = ciphers;
    prologue = rpc::encode_preamble(preamble);
    noise = std::make_unique<secure::NoiseHandshake>(secure::Role::initiator, prologue, key.bytes);
  }
  void send() {
    const Bytes message = noise->write_message().value();
    const std::array<std::uint8_t, 2> length{secure::kHandshakeBytes, 0};
    const std::array<ByteSpan, 3> pieces{prologue, length, message};
    REQUIRE(transport->send(pieces).is_ok());
  }
  // Returns the payload of the server's message.
  Bytes answer() {
    std::array<std::uint8_t, 2> length{};
    REQUIRE(transport->receive(length).is_ok());
    REQUIRE(length[1] == 0);
    Bytes message(length[0]);
    REQUIRE(transport->receive(message).is_ok());
    return noise->read_message(message).value();
  }
  // Returns whether records with this cipher are understood in both directions.
  bool speaks(Cipher cipher) {
    const secure::TransportKeys keys = noise->split();
    secure::SealingState sending{keys.to_responder};
    secure::OpeningState receiving{keys.to_initiator};
    sending.cipher = receiving.cipher = cipher;
    const Bytes request = rpc::whole_frame(
        {rpc::FrameKind::request, static_cast<std::uint16_t>(rpc::Tag::GetStatus), ErrorCode::ok, 1}, {});
    const Bytes records = secure::seal_all(sending, request, false).value();
    const std::array<ByteSpan, 1> pieces{records};
    REQUIRE(transport->send(pieces).is_ok());
    std::array<std::uint8_t, 2> length{};
    if (!transport->receive(length).is_ok()) return false;
    Bytes sealed(secure::sealed_length(length.data()).value());
    if (!transport->receive(sealed).is_ok() || !secure::open(receiving, sealed, sealed.data()).is_ok()) return false;
    const auto header = rpc::decode_frame_header(ByteSpan(sealed).first<rpc::kFrameHeaderBytes>());
    return header.is_ok() && header.value().error == ErrorCode::ok;
  }
};

// The server runs on this machine, or in an emulator without fast ciphers.
secure::Ciphers servers_ciphers() { return server_arch() == native_arch() ? secure::fast_ciphers() : secure::kNoOther; }

TEST_CASE("a server chooses the fastest cipher that it and the client have") {
  const KeyFiles files;
  const secure::Key key = files.add("k.key");
  TestServer server({"--key-file", files.path("k.key")});
  for (const int offered : {0, int{kAes}, 0xff, 0xfd}) {
    CAPTURE(offered);
    const auto ciphers = static_cast<secure::Ciphers>(offered);
    const Cipher expected = secure::choose_cipher(servers_ciphers(), ciphers);
    Offer offer(server, key, ciphers);
    offer.send();
    CHECK(offer.answer() == (expected == Cipher::chacha_poly ? Bytes{} : Bytes{1}));
    CHECK(offer.speaks(expected));
  }
}

TEST_CASE("records of the cipher that was not chosen do not open") {
  const KeyFiles files;
  const secure::Key key = files.add("k.key");
  TestServer server({"--key-file", files.path("k.key")});
  if (servers_ciphers() == secure::kNoOther) return;
  Offer offer(server, key, kAes);
  offer.send();
  offer.answer();
  CHECK_FALSE(offer.speaks(Cipher::chacha_poly));
}

TEST_CASE("somebody in between who takes the offer away is noticed") {
  const KeyFiles files;
  const secure::Key key = files.add("k.key");
  TestServer server({"--key-file", files.path("k.key")});
  Offer offer(server, key, kAes);
  offer.prologue[32] = 0;
  offer.send();
  rpc::Connection connection(std::move(offer.transport));
  const auto frame = connection.receive_frame();
  REQUIRE_MESSAGE(frame.is_ok(), frame.status().message());
  CHECK(rpc::failure_of(frame.value()).code() == ErrorCode::unauthenticated);
}

}  // namespace
}  // namespace ferry::test
