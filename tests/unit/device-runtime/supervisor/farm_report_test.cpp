// What a board tells its tracker about sessions that have ended.
#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "base/utf8.h"
#include "tests/unit/device-runtime/supervisor/farm_fixture.h"
#include "tests/unit/device-runtime/support/test_module.h"

namespace ferry::test {
namespace {

using namespace farm::wire;
using std::chrono::milliseconds;

struct LeasedBoard {
  LeasedBoard() { serve(board, lease_for(kLong, 1, psk)); }

  std::unique_ptr<TestClient> open(const rpc::Open& open) {
    auto transport = enter_board(server, psk);
    REQUIRE_MESSAGE(transport.is_ok(), transport.status().message());
    return std::make_unique<TestClient>(std::move(transport.value()), open, Opening::encrypted);
  }

  Farm farm;
  secure::Key psk = secure::make_key();
  FarmServer server{farm};
  JoiningBoard board{farm.tracker.next_joined()};
};

TEST_CASE("a session that its client ends is reported with its client and its length") {
  LeasedBoard leased;
  auto client = leased.open(open_as("ferry user@laptop"));
  CHECK(client->ask(rpc::Ping{}).status.is_ok());
  std::this_thread::sleep_for(milliseconds(120));
  client.reset();
  const auto report = leased.board.expect<SessionEnded>();
  CHECK(report.key == lease::LeaseKey{100, 1});
  CHECK(report.client == "ferry user@laptop");
  CHECK(report.length_ms >= 120);
  CHECK(report.length_ms < 20'000);
  CHECK(report.failure.empty());
}

TEST_CASE("a crash is reported with its function, its signal and what was printed last") {
  LeasedBoard leased;
  const auto client = leased.open(open_as("ferry"));
  client->send(rpc::Call{put(*client, kit_file()), "say_and_crash", {}});
  CHECK(end_of(*client).code() == ErrorCode::kernel_crashed);
  const auto report = leased.board.expect<SessionEnded>();
  CAPTURE(report.failure);
  CHECK(report.failure.find("say_and_crash: the kernel ended the session with SIGSEGV") == 0);
  CHECK(report.failure.find("at address 0x1238, in module ") != std::string::npos);
  CHECK(report.failure.find("It had printed:") != std::string::npos);
  CHECK(report.failure.find("last words") != std::string::npos);
}

TEST_CASE("a session that the board ends is reported with the reason, also where the lease is over") {
  LeasedBoard leased;
  {
    rpc::Open open = open_as("slow");
    open.limits.call_ms = 200;
    const auto client = leased.open(open);
    client->send(rpc::Call{put(*client, kit_file()), "forever", {}});
    CHECK(end_of(*client).code() == ErrorCode::deadline_exceeded);
    const std::string failure = leased.board.expect<SessionEnded>().failure;
    CHECK_MESSAGE(failure.find("forever was stopped after") == 0, failure);
  }
  const auto client = leased.open(open_as("late"));
  leased.board.send(Withdraw{{100, 1}});
  CHECK_FALSE(end_of(*client).is_ok());
  CHECK(leased.board.expect<LeaseOver>().key.epoch == 1);
  const auto report = leased.board.expect<SessionEnded>();
  CHECK(report.key == lease::LeaseKey{100, 1});
  CHECK(report.failure == "the farm has ended the lease of this board");
}

TEST_CASE("a client that leaves while it is served has ended its session, which is no failure") {
  LeasedBoard leased;
  auto client = leased.open(open_as("hasty"));
  client->send(rpc::Call{put(*client, kit_file()), "forever", {}});
  // Until the kernel runs: the session reads requests in order.
  std::this_thread::sleep_for(milliseconds(is_native() ? 200 : 2000));
  client.reset();
  const auto report = leased.board.expect<SessionEnded>();
  CHECK(report.client == "hasty");
  CHECK_MESSAGE(report.failure.empty(), report.failure);
}

TEST_CASE("so has one that leaves just before its lease ends") {
  LeasedBoard leased;
  auto client = leased.open(open_as("hasty"));
  client->send(rpc::Call{put(*client, kit_file()), "forever", {}});
  std::this_thread::sleep_for(milliseconds(is_native() ? 200 : 2000));
  client.reset();
  leased.board.send(Withdraw{{100, 1}});
  CHECK(leased.board.expect<LeaseOver>().key.epoch == 1);
  const auto report = leased.board.expect<SessionEnded>();
  CHECK(report.client == "hasty");
  CHECK_MESSAGE(report.failure.empty(), report.failure);
}

TEST_CASE("a client's name of any length and bytes fits into a report") {
  LeasedBoard leased;
  for (const std::string& piece : {std::string("\xf0\x9f\x9a\xa2"), std::string("\x1b["), std::string("\xff")}) {
    std::string name = "x";
    while (name.size() + piece.size() <= 256) name += piece;
    leased.open(open_as(name)).reset();
    const auto report = leased.board.expect<SessionEnded>();
    CAPTURE(report.client);
    CHECK(report.client.size() <= kMaxText);
    CHECK(report.client.size() > kMaxText / 2);
    CHECK(is_utf8(report.client));
    CHECK(report.client.find('\x1b') == std::string::npos);
  }
}

TEST_CASE("a session that ends while the board has no tracker is not reported later") {
  LeasedBoard leased;
  auto client = leased.open(open_as("unseen"));
  leased.board.close();
  const Descriptor silent = leased.farm.tracker.next_socket();  // the board stays without a tracker
  client.reset();
  for (int i = 0; i < 200 && !children_of(leased.server.process()).empty(); ++i)
    std::this_thread::sleep_for(milliseconds(20));
  CHECK(children_of(leased.server.process()).empty());
  JoiningBoard again = leased.farm.tracker.next_joined();
  leased.open(open_as("seen")).reset();
  CHECK(again.expect<SessionEnded>().client == "seen");
}

}  // namespace
}  // namespace ferry::test
