#include "tests/unit/device-runtime/supervisor/fake_tracker.h"

#include <poll.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <array>

#include "rpc/secure/noise.h"
#include "rpc/secure/secure_transport.h"
#include "rpc/server/listen.h"
#include "rpc/transport/socket.h"

namespace ferry::test {
namespace {

constexpr std::chrono::seconds kPatience{20};

void receive_all(int socket, MutableByteSpan bytes) {
  REQUIRE(recv(socket, bytes.data(), bytes.size(), MSG_WAITALL) == static_cast<ssize_t>(bytes.size()));
}

}  // namespace

std::unique_ptr<Transport> JoiningBoard::shake_hands(Descriptor socket, const secure::Key& key) {
  std::array<std::uint8_t, rpc::kPreambleBytes> preamble;
  receive_all(socket.number(), preamble);
  CHECK(rpc::decode_preamble(preamble).value().key_id == key.id());
  std::array<std::uint8_t, secure::kLengthBytes + secure::kHandshakeBytes> first;
  receive_all(socket.number(), first);
  secure::NoiseHandshake noise(secure::Role::responder, preamble, key.bytes);
  REQUIRE(noise.read_message(std::span(first).subspan(secure::kLengthBytes)).is_ok());
  std::vector<std::uint8_t> answer = noise.write_message().value();
  answer.insert(answer.begin(), {secure::kHandshakeBytes, 0});
  REQUIRE(::send(socket.number(), answer.data(), answer.size(), 0) == static_cast<ssize_t>(answer.size()));
  keys_ = noise.split();
  auto transport = wrap_socket(socket.release());
  REQUIRE(transport.is_ok());
  auto secured =
      secure::secure_transport(std::move(transport.value()), {keys_.to_initiator, 0}, {keys_.to_responder, 0});
  secured->set_receive_timeout(kPatience);
  return secured;
}

JoiningBoard::JoiningBoard(Descriptor socket, const secure::Key& key)
    : socket_(socket.number()), connection_(std::make_unique<rpc::Connection>(shake_hands(std::move(socket), key))) {
  const auto frame = connection_->receive_frame();
  REQUIRE_MESSAGE(frame.is_ok(), frame.status().message());
  header_ = frame.value().header;
  CHECK(header_.kind == rpc::FrameKind::request);
  CHECK(header_.tag == static_cast<std::uint16_t>(farm::wire::Tag::Join));
  CHECK(header_.body_bytes <= farm::wire::kMaxFirstBody);
  const auto join = farm::wire::decode<farm::wire::Join>(frame.value().body);
  REQUIRE_MESSAGE(join.is_ok(), join.status().message());
  join_ = join.value();
}

void JoiningBoard::send_raw(const std::vector<std::uint8_t>& bytes) {
  const std::array<ByteSpan, 1> pieces{bytes};
  const Status sent = connection_->transport().send(pieces);
  REQUIRE_MESSAGE(sent.is_ok(), sent.message());
}

void JoiningBoard::send_in_the_clear(const std::vector<std::uint8_t>& bytes) {
  CHECK(::send(socket_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
}

std::vector<std::uint8_t> JoiningBoard::expect_body(farm::wire::Tag tag) {
  while (true) {
    const auto frame = connection_->receive_frame();
    REQUIRE_MESSAGE(frame.is_ok(), frame.status().message());
    CHECK(frame.value().header.kind == rpc::FrameKind::event);
    const auto got = static_cast<farm::wire::Tag>(frame.value().header.tag);
    if (got == tag) return {frame.value().body.begin(), frame.value().body.end()};
    const bool is_report = got == farm::wire::Tag::Heartbeat || got == farm::wire::Tag::SessionEnded;
    REQUIRE_MESSAGE(is_report, "expected " << farm::wire::tag_name(static_cast<std::uint16_t>(tag)) << ", got "
                                           << farm::wire::tag_name(frame.value().header.tag));
    send(farm::wire::Keepalive{});
  }
}

void JoiningBoard::expect_end() {
  Result<rpc::Frame> frame = connection_->receive_frame();
  while (frame.is_ok()) frame = connection_->receive_frame();
  CHECK(frame.status().code() != ErrorCode::deadline_exceeded);
}

FakeTracker::FakeTracker(secure::Key board_key) : key_(board_key) {
  auto listener = server::listen_at("127.0.0.1", 0, 0, true);
  REQUIRE_MESSAGE(listener.is_ok(), listener.status().message());
  listener_ = std::move(listener.value());
  const std::string name = server::own_name(listener_.number());
  port_ = static_cast<std::uint16_t>(std::stoi(name.substr(name.find(':') + 1)));
}

bool FakeTracker::has_visitor(std::chrono::milliseconds within) const {
  pollfd entry{listener_.number(), POLLIN, 0};
  return poll(&entry, 1, static_cast<int>(within.count())) == 1;
}

Descriptor FakeTracker::next_socket() {
  REQUIRE_MESSAGE(has_visitor(kPatience), "no board has come");
  return Descriptor(accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
}

JoiningBoard FakeTracker::next() { return {next_socket(), key_}; }

void FakeTracker::refuse_next() {
  const Descriptor socket = next_socket();
  std::array<std::uint8_t, rpc::kPreambleBytes> preamble;
  receive_all(socket.number(), preamble);
  const auto frame = rpc::failure_frame(0, 0, {ErrorCode::unauthenticated, "no"});
  CHECK(send(socket.number(), frame.data(), frame.size(), 0) == static_cast<ssize_t>(frame.size()));
}

JoiningBoard FakeTracker::next_joined() {
  JoiningBoard board = next();
  board.accept();
  return board;
}

farm::wire::Announce lease_for(std::chrono::milliseconds length, std::uint64_t epoch, const secure::Key& psk,
                               std::uint32_t extension) {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const std::int64_t now_ms = std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
  return {{epoch * 100, epoch}, extension, static_cast<std::uint64_t>(now_ms + length.count()), psk.bytes};
}

}  // namespace ferry::test
