// Tests attacks on encrypted connections by strangers and by attackers between the two ends. After each, the server
// serves the next client.
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <random>
#include <thread>

#include "rpc/secure/record.h"
#include "tests/unit/device-runtime/support/key_files.h"
#include "tests/unit/device-runtime/support/next_session.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

using namespace std::chrono_literals;

template <class Request>
Bytes frame_of(std::uint64_t id, const Request& request) {
  const Bytes body = rpc::encode(request);
  rpc::FrameHeader header;
  header.tag = static_cast<std::uint16_t>(rpc::MessageOf<Request>::kTag);
  header.request = id;
  header.body_bytes = static_cast<std::uint32_t>(body.size());
  const auto head = rpc::encode_frame_header(header);
  Bytes bytes(head.begin(), head.end());
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

Bytes open_frame() { return frame_of(1, open_as("a test")); }

// A client of which the test controls every byte.
struct Line {
  Line(const TestServer& to, const secure::Key& with) : server(to), key(with) {}

  const TestServer& server;
  secure::Key key;
  std::unique_ptr<Transport> transport = connect_to(server.port());
  std::array<std::uint8_t, rpc::kPreambleBytes> prologue = preamble();
  secure::NoiseHandshake noise{secure::Role::initiator, prologue, key.bytes};
  Bytes opening = first_bytes();
  secure::SealingState sending;
  secure::OpeningState receiving;

  std::array<std::uint8_t, rpc::kPreambleBytes> preamble() const {
    rpc::Preamble opened;
    opened.mode = rpc::PreambleMode::encrypted;
    opened.key_id = key.id();
    return rpc::encode_preamble(opened);
  }
  Bytes first_bytes() {
    const Bytes message = noise.write_message().value();
    Bytes bytes(prologue.begin(), prologue.end());
    bytes.insert(bytes.end(), {secure::kHandshakeBytes, 0});
    bytes.insert(bytes.end(), message.begin(), message.end());
    return bytes;
  }
  bool put(ByteSpan bytes) {
    const std::array<ByteSpan, 1> pieces{bytes};
    return transport->send(pieces).is_ok();
  }
  // Performs the handshake up to the server's message.
  void shake_hands() {
    REQUIRE(put(opening));
    std::array<std::uint8_t, secure::kLengthBytes + secure::kHandshakeBytes> answer;
    REQUIRE(transport->receive(answer).is_ok());
    REQUIRE(noise.read_message(ByteSpan(answer).subspan(secure::kLengthBytes)).is_ok());
    const secure::TransportKeys keys = noise.split();
    sending.key = keys.to_responder;
    receiving.key = keys.to_initiator;
  }
  Bytes record(const Bytes& plain) { return secure::seal_all(sending, plain, false).value(); }
  // Returns the plaintext of the next record; empty if the server closed the connection or is gone.
  Bytes next() {
    std::array<std::uint8_t, secure::kLengthBytes> length;
    if (!transport->receive(length).is_ok()) return {};
    Bytes sealed(secure::sealed_length(length.data()).value());
    if (!transport->receive(sealed).is_ok()) return {};
    const Status opened = secure::open(receiving, sealed, sealed.data());
    CHECK_MESSAGE(opened.is_ok(), opened.message());
    sealed.resize(sealed.size() - secure::kTagBytes);
    return sealed;
  }
  // Returns the header of the next frame, which must fit into one record.
  rpc::FrameHeader next_header() {
    const Bytes plain = next();
    REQUIRE(plain.size() >= rpc::kFrameHeaderBytes);
    return rpc::decode_frame_header(std::span<const std::uint8_t, rpc::kFrameHeaderBytes>(plain.data(), 32)).value();
  }
  void enter() {
    shake_hands();
    REQUIRE(put(record(open_frame())));
    CHECK(next_header().error == ErrorCode::ok);
  }
};

struct Guarded {
  KeyFiles files;
  secure::Key key = files.add("k.key");
  TestServer server{{"--key-file", files.path("k.key")}};

  void check_alive() {
    Line line{server, key};
    line.enter();
  }
};

TEST_CASE("an encrypted record that comes twice, or with a bit changed, is refused and the connection closed") {
  Guarded guarded;
  for (const bool again : {true, false}) {
    Line line{guarded.server, guarded.key};
    line.enter();
    Bytes record = line.record(frame_of(2, rpc::Ping{}));
    REQUIRE(line.put(record));
    CHECK(line.next_header().request == 2);
    if (!again) {
      record = line.record(frame_of(3, rpc::Ping{}));
      record[20] ^= 4;
    }
    REQUIRE(line.put(record));
    const rpc::FrameHeader refusal = line.next_header();
    CHECK(refusal.request == 0);
    CHECK(refusal.error == ErrorCode::protocol_error);
    CHECK(line.next().empty());
    guarded.check_alive();
  }
}

TEST_CASE("a recorded connection that is played back gets one answer and no session") {
  Guarded guarded;
  Line line{guarded.server, guarded.key};
  line.shake_hands();
  Bytes recorded = line.opening;
  const Bytes first = line.record(open_frame());
  recorded.insert(recorded.end(), first.begin(), first.end());
  REQUIRE(line.put(first));
  CHECK(line.next_header().error == ErrorCode::ok);
  const std::size_t sessions = children_of(guarded.server.process()).size();
  auto player = connect_to(guarded.server.port());
  const std::array<ByteSpan, 1> pieces{recorded};
  REQUIRE(player->send(pieces).is_ok());
  Bytes answer(secure::kLengthBytes + secure::kHandshakeBytes);
  CHECK(player->receive(answer).is_ok());
  Bytes rest(4096);
  while (player->receive_some(rest, 1).is_ok()) {
  }
  CHECK(children_of(guarded.server.process()).size() == sessions);
  guarded.check_alive();
}

TEST_CASE("an opening that stops after any byte costs the server nothing") {
  Guarded guarded;
  Line sample{guarded.server, guarded.key};
  for (std::size_t length = 0; length < sample.opening.size(); ++length) {
    Line line{guarded.server, guarded.key};
    REQUIRE(line.put(ByteSpan(line.opening).first(length)));
  }
  const std::size_t record_bytes = sample.record(open_frame()).size();
  for (std::size_t length = 0; length < record_bytes; ++length) {
    Line line{guarded.server, guarded.key};
    line.shake_hands();
    const Bytes record = line.record(open_frame());
    REQUIRE(record.size() == record_bytes);
    REQUIRE(line.put(ByteSpan(record).first(length)));
  }
  guarded.check_alive();
}

TEST_CASE("one byte at a time does not outlive the deadline of the handshake, nor delay others") {
  Guarded guarded;
  Line slow{guarded.server, guarded.key};
  const auto begin = std::chrono::steady_clock::now();
  std::thread drip([&] {
    for (const std::uint8_t& byte : slow.opening) {
      if (!slow.put(ByteSpan(&byte, 1))) return;
      std::this_thread::sleep_for(200ms);
    }
  });
  guarded.check_alive();
  Bytes byte(1);
  CHECK_FALSE(slow.transport->receive(byte).is_ok());
  const auto elapsed = std::chrono::steady_clock::now() - begin;
  CHECK(elapsed > 4s);
  drip.join();
}

TEST_CASE("random bytes behind a right preamble end that connection alone") {
  Guarded guarded;
  std::mt19937 random(1);
  std::vector<std::unique_ptr<Line>> lines;
  for (int round = 0; round < 50; ++round) {
    lines.push_back(std::make_unique<Line>(guarded.server, guarded.key));
    Line& line = *lines.back();
    if (round % 2 == 0) line.shake_hands();
    Bytes noise(round % 2 == 0 ? 300 : line.prologue.size() + 300);
    for (std::uint8_t& byte : noise) byte = static_cast<std::uint8_t>(random());
    if (round % 2 != 0) std::copy(line.prologue.begin(), line.prologue.end(), noise.begin());
    (void)line.put(noise);
  }
  guarded.check_alive();
}

TEST_CASE("200 silent connections do not keep a client with a key waiting") {
  Guarded guarded;
  std::vector<std::unique_ptr<Transport>> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(connect_to(guarded.server.port()));
  guarded.check_alive();
}

}  // namespace
}  // namespace ferry::test
