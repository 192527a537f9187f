// Boards that are enrolled, and say what no honest one would.
#include <doctest/doctest.h>

#include "host/farm/store/sqlite_store.h"
#include "tests/support/farm/memory_store.h"
#include "tests/support/farm/temporary_folder.h"
#include "tests/support/farm_peers/running_tracker.h"

namespace ferry::test {
namespace {

using namespace farm::wire;

TestBoardOptions board_options(RunningTracker& tracker, const std::string& name) {
  TestBoardOptions options;
  options.tracker = tracker.address();
  options.key = tracker.board_key(name);
  options.description.arch = "aarch64";
  return options;
}

TEST_CASE("a board cannot send clients to a place where they would log in, or to none") {
  RunningTracker tracker(std::make_unique<MemoryStore>());
  TestBoardOptions options = board_options(tracker, "pi-3");
  for (const char* address :
       {"ssh://root@victim", "ssh://-oProxyCommand=touch", "ssh://victim:22", "", "victim", "victim:0", ":22", "a b:22",
        "[x y]:22", "farm://lab:1", "unix:/tmp/x", "\x1b]0;owned\x07:22", "plaintext://127.0.0.1:9090"}) {
    CAPTURE(address);
    options.address = address;
    const auto joined = TestBoard(options).joined_as();
    CHECK(joined.status().code() == ErrorCode::invalid_argument);
    CHECK(joined.status().message().find("HOST:PORT") != std::string::npos);
  }
  for (const char* address : {"10.1.2.3:9090", "[fe80::1%eth0]:9090", "pi-3.lab_2.example:9090"}) {
    CAPTURE(address);
    options.address = address;
    CHECK(TestBoard(options).joined_as().is_ok());
  }
}

TEST_CASE("a board cannot make the tracker run out of epochs") {
  RunningTracker tracker(std::make_unique<MemoryStore>());
  TestBoardOptions options = board_options(tracker, "pi-3");
  for (const lease::Epoch ceiling : {~lease::Epoch{0}, lease::kMaxEpoch, (lease::Epoch{1} << 62) + 1}) {
    CAPTURE(ceiling);
    options.ceiling = ceiling;
    CHECK(TestBoard(options).joined_as().status().message().find("ceiling") != std::string::npos);
  }
  options.ceiling = lease::Epoch{1} << 62;
  TestBoard board(options);
  REQUIRE(board.joined_as().is_ok());
  farm::LeaseWish wish;
  wish.selectors = {"pi-3"};
  const auto lease = farm::BoardLease::request(tracker.add_client("anna"), wish);
  REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
  CHECK(lease.value()->slots().at(0).epoch == options.ceiling + 1);
}

// The longest that a board may say, in bytes that take the most room in a database.
Description longest_description() {
  const auto text = [](std::size_t bytes) { return std::string(bytes, '\x01'); };
  Description description;
  description.model = description.cpu = text(kMaxText);
  description.arch = description.server_version = text(kMaxName);
  for (std::size_t i = 0; i < 100; ++i) description.features.push_back(text(kMaxName));
  for (std::size_t i = 0; i < kMaxBoardDevices; ++i) description.accelerators.push_back({text(kMaxName), ""});
  for (std::size_t i = 0; i < 25; ++i) description.tags.push_back({std::to_string(i), text(kMaxText)});
  return description;
}

TEST_CASE("whatever a board says of itself, the database takes it and the tracker goes on") {
  const TemporaryFolder folder;
  auto opened = farm::open_sqlite_store(folder.file("farm.db"));
  REQUIRE_MESSAGE(opened.is_ok(), opened.status().message());
  RunningTracker tracker(std::move(opened.value().store));
  TestBoardOptions options = board_options(tracker, "liar");
  options.description = longest_description();
  TestBoard board(options);
  REQUIRE_MESSAGE(board.joined_as().is_ok(), board.joined_as().status().message());
  board.send(Heartbeat{~std::uint64_t{0}, INT32_MIN, true, ~0u, 12345});
  board.send(SessionEnded{{1, 2}, std::string(kMaxText, '\x01'), ~std::uint64_t{0}, std::string(kMaxReport, '\x01')});
  const auto honest = tracker.join(tracker.board_key("pi-3"));
  farm::LeaseWish wish;
  wish.selectors = {"pi-3"};
  const auto lease = farm::BoardLease::request(tracker.add_client("anna"), wish);
  CHECK_MESSAGE(lease.is_ok(), lease.status().message());
  for (const std::string& line : tracker.log()) {
    CAPTURE(line);
    CHECK(line.find("standing by") == std::string::npos);
  }
}

}  // namespace
}  // namespace ferry::test
