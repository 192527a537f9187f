// Ways to boards that their clients cannot reach.
#include "farm/client/relay.h"

#include <doctest/doctest.h>

#include <thread>

#include "rpc/transport/tcp.h"
#include "rpc/wire/relay_preamble.h"
#include "tests/support/farm/memory_store.h"
#include "tests/support/farm_peers/running_tracker.h"

namespace ferry::test {
namespace {

// The board's end of a relay.
std::unique_ptr<Transport> dial_as_board(const TcpAddress& tracker, std::uint64_t token) {
  auto transport = connect_tcp(tracker.host, tracker.port);
  REQUIRE(transport.is_ok());
  REQUIRE(rpc::send_relay_preamble(*transport.value(), {token, rpc::RelayEnd::board}).is_ok());
  transport.value()->set_receive_timeout(std::chrono::seconds(5));
  return std::move(transport.value());
}

Status send_text(Transport& transport, const std::string& text) {
  const ByteSpan bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  return transport.send({&bytes, 1});
}

std::string receive_text(Transport& transport, std::size_t count) {
  std::string text(count, '\0');
  const Status received = transport.receive({reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
  return received.is_ok() ? text : received.message();
}

TEST_CASE("what a client and the board of its lease send reaches the other end through the tracker") {
  RunningTracker tracker(std::make_unique<MemoryStore>());
  const auto board = tracker.join(tracker.board_key("pi-3"));
  const farm::FarmAccess anna = tracker.add_client("anna");
  farm::LeaseOptions wanted;
  wanted.selectors = {"pi-3"};
  const auto lease = farm::BoardLease::request(anna, wanted);
  REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
  auto client = farm::open_relay({anna, lease.value()->id(), 0});
  REQUIRE_MESSAGE(client.is_ok(), client.status().message());
  client.value()->set_receive_timeout(std::chrono::seconds(5));
  const auto token = board->relay_token();
  REQUIRE(token);
  const auto other_end = dial_as_board(tracker.address(), *token);
  REQUIRE(send_text(*client.value(), "from the client").is_ok());
  CHECK(receive_text(*other_end, 15) == "from the client");
  REQUIRE(send_text(*other_end, "from the board").is_ok());
  CHECK(receive_text(*client.value(), 14) == "from the board");
  // Bytes are counted after they have been forwarded.
  std::uint64_t relayed = 0;
  for (int i = 0; i < 500 && relayed != 29; ++i) {
    relayed = tracker.farm().numbers().value().relayed_bytes;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK(relayed == 29);

  // The token was for one connection.
  const auto late = dial_as_board(tracker.address(), *token);
  CHECK(receive_text(*late, 1) == kPeerClosed);
}

TEST_CASE("the relays of a lease are limited and end with it, whatever its client and board do") {
  RunningTracker tracker(std::make_unique<MemoryStore>());
  const auto board = tracker.join(tracker.board_key("pi-3"));
  const farm::FarmAccess anna = tracker.add_client("anna");
  farm::LeaseOptions wanted;
  wanted.selectors = {"pi-3"};
  auto lease = farm::BoardLease::request(anna, wanted);
  REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
  const farm::wire::UseRelay ask{lease.value()->id(), 0};
  std::vector<std::unique_ptr<Transport>> ends;
  farm::FarmClient connection(anna);
  for (int i = 0; i < 2; ++i) {
    const auto offered = connection.ask(ask);
    REQUIRE_MESSAGE(offered.is_ok(), offered.status().message());
    // The client plays the board's part as well.
    for (const rpc::RelayEnd end : {rpc::RelayEnd::client, rpc::RelayEnd::board}) {
      ends.push_back(std::move(connect_tcp(tracker.address().host, tracker.address().port).value()));
      REQUIRE(rpc::send_relay_preamble(*ends.back(), {offered.value().token, end}).is_ok());
      ends.back()->set_receive_timeout(std::chrono::seconds(5));
    }
    REQUIRE(send_text(*ends[2 * i], "hello").is_ok());
    CHECK(receive_text(*ends[2 * i + 1], 5) == "hello");
  }
  const auto third = connection.ask(ask);
  CHECK(third.status().code() == ErrorCode::busy);
  CHECK(third.status().message().find("2 relays already") != std::string::npos);
  lease.value()->release();
  for (const auto& end : ends) CHECK(receive_text(*end, 1) == kPeerClosed);
}

TEST_CASE("nobody gets a way to the board of somebody else's lease, or to one that there is not") {
  RunningTracker tracker(std::make_unique<MemoryStore>());
  const auto board = tracker.join(tracker.board_key("pi-3"));
  const farm::FarmAccess anna = tracker.add_client("anna"), berta = tracker.add_client("berta");
  farm::LeaseOptions wanted;
  wanted.selectors = {"pi-3"};
  const auto lease = farm::BoardLease::request(anna, wanted);
  REQUIRE(lease.is_ok());
  CHECK(farm::open_relay({berta, lease.value()->id(), 0}).status().code() == ErrorCode::not_found);
  CHECK(farm::open_relay({anna, lease.value()->id(), 1}).status().code() == ErrorCode::not_found);
  CHECK(farm::open_relay({anna, 4711, 0}).status().code() == ErrorCode::not_found);
  const farm::FarmAccess viewer = tracker.add_client("anna", farm::wire::Role::viewer);
  CHECK(farm::open_relay({viewer, lease.value()->id(), 0}).status().code() == ErrorCode::not_found);
  board->cut();
  board->wait_for_end();
  Status status;
  for (int i = 0; i < 100 && status.code() != ErrorCode::unavailable; ++i) {
    status = farm::open_relay({anna, lease.value()->id(), 0}).status();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK(status.code() == ErrorCode::unavailable);
}

}  // namespace
}  // namespace ferry::test
