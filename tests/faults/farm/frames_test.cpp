// What no client and no board would send to a tracker, while a lease goes on.
#include <signal.h>

#include <algorithm>
#include <optional>
#include <random>
#include <thread>

#include "farm/client/farm_client.h"
#include "farm/protocol/codec.h"
#include "rpc/secure/client_handshake.h"
#include "rpc/transport/tcp.h"
#include "tests/faults/farm/fault_farm.h"

namespace ferry::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using farm::wire::kMaxBody;
using farm::wire::kMaxFirstBody;
using farm::wire::Tag;
using rpc::FrameKind;

std::unique_ptr<Transport> connect_to(const RealFarm& farm) {
  const TcpAddress tracker = farm.access().trackers[0];
  auto transport = connect_tcp(tracker.host, tracker.port);
  REQUIRE_MESSAGE(transport.is_ok(), transport.status().message());
  transport.value()->set_receive_timeout(std::chrono::seconds(10));
  return std::move(transport.value());
}

std::unique_ptr<Transport> encrypted(const RealFarm& farm, const secure::Key& key) {
  auto transport = secure::encrypt_connection(connect_to(farm), key, std::chrono::seconds(10));
  REQUIRE_MESSAGE(transport.is_ok(), transport.status().message());
  transport.value()->set_receive_timeout(std::chrono::seconds(10));
  return std::move(transport.value());
}

void send(Transport& transport, const Bytes& bytes) {
  const ByteSpan piece(bytes);
  static_cast<void>(transport.send({&piece, 1}));
}

// The connection ends within 10 s, whatever arrives before.
void check_ends(Transport& transport) {
  Bytes byte(1);
  Status received;
  while (received.is_ok()) received = transport.receive(byte);
  CHECK_MESSAGE(received.code() == ErrorCode::unavailable, received.message());
}

Bytes header(FrameKind kind, Tag tag, std::uint32_t body, std::uint64_t payload) {
  const auto bytes = rpc::encode_frame_header({kind, static_cast<std::uint16_t>(tag), ErrorCode::ok, 7, body, payload});
  return {bytes.begin(), bytes.end()};
}

Bytes whole(FrameKind kind, Tag tag, const Bytes& body) {
  return rpc::whole_frame({kind, static_cast<std::uint16_t>(tag), ErrorCode::ok, 7}, body);
}

// The lengths of strings and lists in it are beyond all limits.
Bytes lying_body(std::size_t size) { return Bytes(size, 0xff); }

// Behind the first request of a client or a board.
std::vector<Bytes> broken_frames(FrameKind kind, Tag tag) {
  return {Bytes(64, 'x'),
          header(kind, tag, kMaxBody + 1, 0),
          header(kind, tag, 0xffffffffU, 0),
          header(kind, tag, 0, 1),
          header(kind, tag, 0, std::uint64_t{1} << 62),
          header(FrameKind::response, tag, 0, 0),
          whole(kind, tag, {}),
          whole(kind, tag, lying_body(17)),
          whole(kind, tag, lying_body(kMaxBody))};
}

// A board with a holder who goes on throughout.
struct HeldFarm : RealFarm {
  HeldFarm() : RealFarm(farm_of(3)) {
    start_board(0);
    start_board(1);
    wait_for_boards(2);
    holder.emplace(*this, "holder", "b0", 60'000, FaultClient::Leases::one);
    holder->wait_for_call();
  }
  // Ends the holder, and checks that neither it nor anybody else has been disturbed.
  void check_undisturbed() {
    FaultClient other(*this, "other", "b1", 10, FaultClient::Leases::one);
    other.wait_for_call(std::chrono::seconds(5));
    CHECK(!tracker().has_ended());
    holder->process().signal(SIGTERM);
    CHECK(holder->process().wait() == 0);
    CHECK(holder->leases().back().failure == "");
    CHECK(tracker().peak_megabytes() < 100);
  }

  std::optional<FaultClient> holder;
};

TEST_CASE("broken frames of clients and boards with keys end their own connection alone") {
  HeldFarm farm;
  for (const Bytes& frame : broken_frames(FrameKind::event, Tag::Submit)) {
    const auto client = encrypted(farm, farm.access().key);
    send(*client, farm::wire::request_frame(1, farm::wire::Hello{}));
    send(*client, frame);
    check_ends(*client);
  }
  for (const Bytes& frame : broken_frames(FrameKind::request, Tag::ListDevices)) {
    const auto client = encrypted(farm, farm.access().key);
    send(*client, farm::wire::request_frame(1, farm::wire::Hello{}));
    send(*client, frame);
    check_ends(*client);
  }
  std::vector<Bytes> lies = broken_frames(FrameKind::event, Tag::Heartbeat);
  lies.push_back(whole(FrameKind::request, Tag::ListDevices, {}));
  for (const Bytes& frame : lies) {
    const auto board = encrypted(farm, farm.board_key(2));
    send(*board, farm::wire::request_frame(1, farm::wire::Join{}));
    send(*board, frame);
    check_ends(*board);
  }
  farm.check_undisturbed();
}

TEST_CASE("first requests that are broken, too large, or not for this key are refused") {
  HeldFarm farm;
  const std::vector<Bytes> lies = {Bytes(64, 'x'),
                                   header(FrameKind::request, Tag::Hello, kMaxFirstBody + 1, 0),
                                   header(FrameKind::request, Tag::Hello, 0, 1),
                                   whole(FrameKind::event, Tag::Hello, {}),
                                   whole(FrameKind::request, Tag::Hello, {}),
                                   whole(FrameKind::request, Tag::Hello, lying_body(kMaxFirstBody)),
                                   whole(FrameKind::request, Tag::ListDevices, {}),
                                   farm::wire::request_frame(1, farm::wire::Join{})};
  for (const Bytes& lie : lies) {
    const auto client = encrypted(farm, farm.access().key);
    send(*client, lie);
    check_ends(*client);
  }
  const auto board = encrypted(farm, farm.board_key(2));
  send(*board, farm::wire::request_frame(1, farm::wire::Hello{}));
  check_ends(*board);
  farm.check_undisturbed();
}

TEST_CASE("without a key there is nothing but the end of the connection, at the latest after 5 s") {
  HeldFarm farm;
  std::mt19937 random(20261124);
  std::vector<std::unique_ptr<Transport>> slow;
  for (int i = 0; i < 300; ++i) slow.push_back(connect_to(farm));
  for (int i = 0; i < 200; ++i) {
    const auto stranger = connect_to(farm);
    Bytes bytes(random() % 400);
    if (i % 2 == 0 && bytes.size() >= rpc::kPreambleBytes) {
      rpc::Preamble preamble;
      preamble.mode = i % 4 == 0 ? rpc::PreambleMode::encrypted : rpc::PreambleMode::relay;
      const auto start = rpc::encode_preamble(preamble);
      std::ranges::copy(start, bytes.begin());
    }
    for (std::size_t at = i % 2 == 0 ? rpc::kPreambleBytes : 0; at < bytes.size(); ++at)
      bytes[at] = static_cast<std::uint8_t>(random());
    send(*stranger, bytes);
    stranger->close_send();
    check_ends(*stranger);
  }
  // A byte every 100 ms, which would do if there were no deadline for all.
  const auto begin = Clock::now();
  rpc::Preamble opening;
  opening.mode = rpc::PreambleMode::encrypted;
  opening.key_id = farm.access().key.id();
  const auto preamble = rpc::encode_preamble(opening);
  for (std::size_t at = 0; at < 12; ++at) {
    for (const auto& one : slow) send(*one, {preamble[at]});
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  FaultClient other(farm, "beside", "b1", 10, FaultClient::Leases::one);
  other.wait_for_call(std::chrono::seconds(3));
  for (const auto& one : slow) check_ends(*one);
  CHECK(seconds_since(begin) < 7);
  farm.check_undisturbed();
}

}  // namespace
}  // namespace ferry::test
