// The board's end of a relay: it dials the tracker, which is the test here, and the client begins over that connection.
#include <doctest/doctest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>

#include "rpc/transport/socket.h"
#include "tests/unit/device-runtime/supervisor/farm_fixture.h"

namespace ferry::test {
namespace {

using namespace farm::wire;

rpc::Preamble preamble_from(const Descriptor& socket) {
  std::array<std::uint8_t, rpc::kPreambleBytes> bytes{};
  REQUIRE(recv(socket.number(), bytes.data(), bytes.size(), MSG_WAITALL) == static_cast<ssize_t>(bytes.size()));
  const auto preamble = rpc::decode_preamble(bytes);
  REQUIRE_MESSAGE(preamble.is_ok(), preamble.status().message());
  return preamble.value();
}

// Asks the board for a relay, and returns what connects the client with it.
std::unique_ptr<Transport> relay_to(Farm& farm, JoiningBoard& board, std::uint64_t token) {
  board.send(OpenRelay{token});
  Descriptor socket = farm.tracker.next_socket();
  const rpc::Preamble preamble = preamble_from(socket);
  CHECK(preamble.mode == rpc::PreambleMode::relay);
  CHECK(preamble.relay.token == token);
  CHECK(preamble.relay.end == rpc::RelayEnd::board);
  auto transport = wrap_socket(socket.release());
  REQUIRE(transport.is_ok());
  transport.value()->set_receive_timeout(std::chrono::seconds(20));
  return std::move(transport.value());
}

auto encrypt(std::unique_ptr<Transport> transport, const secure::Key& key) {
  return secure::encrypt_connection(std::move(transport), key, std::chrono::seconds(20));
}

TEST_CASE("a client opens its session through a connection that the board has dialed") {
  Farm farm;
  const FarmServer server(farm);
  JoiningBoard board = farm.tracker.next_joined();
  const secure::Key psk = secure::make_key();
  serve(board, lease_for(kLong, 1, psk));
  for (const std::uint64_t token : {std::uint64_t{1}, ~std::uint64_t{0}}) {
    auto transport = encrypt(relay_to(farm, board, token), psk);
    REQUIRE_MESSAGE(transport.is_ok(), transport.status().message());
    TestClient client(std::move(transport.value()), open_as("from afar"), Opening::encrypted);
    const std::vector<float> values{1.5F, -2.0F, 3.25F};
    CHECK(client.download<float>(client.upload(values), values.size()) == values);
  }
  CHECK(board.expect<SessionEnded>().client == "from afar");
}

TEST_CASE("a relay admits nobody whom the board would not admit otherwise") {
  Farm farm;
  const FarmServer server(farm);
  JoiningBoard board = farm.tracker.next_joined();
  const secure::Key psk = secure::make_key();
  serve(board, lease_for(kLong, 1, psk));
  CHECK(encrypt(relay_to(farm, board, 1), secure::make_key()).status().code() == ErrorCode::unauthenticated);
  auto late = relay_to(farm, board, 2);
  board.send(Withdraw{{100, 1}});
  CHECK(board.expect<LeaseOver>().key.epoch == 1);
  CHECK(encrypt(std::move(late), psk).status().code() == ErrorCode::unauthenticated);
}

TEST_CASE("a board that serves no lease opens no relay") {
  Farm farm;
  const FarmServer server(farm);
  JoiningBoard board = farm.tracker.next_joined();
  const auto expect_no_visitor = [&](std::uint64_t probe) {
    board.send(OpenRelay{probe});
    board.send(Probe{probe});
    // It has read the first message when it answers the second one.
    while (board.expect<Heartbeat>().probe != probe) {
    }
    CHECK_FALSE(farm.tracker.has_visitor(std::chrono::milliseconds(200)));
  };
  expect_no_visitor(1);
  serve(board, lease_for(kLong, 1, secure::make_key()));
  board.send(Withdraw{{100, 1}});
  CHECK(board.expect<LeaseOver>().key.epoch == 1);
  expect_no_visitor(2);
}

TEST_CASE("relays without number and without clients keep nobody out") {
  Farm farm;
  const FarmServer server(farm);
  JoiningBoard board = farm.tracker.next_joined();
  const secure::Key psk = secure::make_key();
  serve(board, lease_for(kLong, 1, psk));
  for (std::uint64_t token = 1; token <= 2000; ++token) board.send(OpenRelay{token});
  CHECK(open_session(server, psk)->ask(rpc::Ping{}).status.is_ok());
  CHECK(board.expect<SessionEnded>().failure.empty());
  board.send(Probe{1});
  while (board.expect<Heartbeat>().probe != 1) {
  }
}

}  // namespace
}  // namespace ferry::test
