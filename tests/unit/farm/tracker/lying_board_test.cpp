// Boards that are enrolled, and say what no honest one would.
#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

#include "farm/store/sqlite_store.h"
#include "farm/tracker/session_log.h"
#include "tests/support/farm/memory_store.h"
#include "tests/support/farm/temporary_folder.h"
#include "tests/support/farm_peers/running_tracker.h"

namespace ferry::test {
namespace {

using namespace farm::wire;
using farm::FarmClient;

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
  farm::LeaseOptions wanted;
  wanted.selectors = {"pi-3"};
  const auto lease = farm::BoardLease::request(tracker.add_client("anna"), wanted);
  REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
  CHECK(lease.value()->slots().at(0).epoch == options.ceiling + 1);
}

TEST_CASE("a board that calls itself by the name of another one does not get its requests, and admins learn of it") {
  RunningTracker tracker(std::make_unique<MemoryStore>());
  const auto honest = tracker.join(tracker.board_key("pi-3"));
  TestBoardOptions options = board_options(tracker, "liar");
  options.description.model = "Pi 3";
  options.description.tags = {{"pi-3", ""}, {"bench", ""}};
  TestBoard liar(options);
  REQUIRE(liar.joined_as().is_ok());
  CHECK(tracker.wait_for_log("board liar: a model and tags that are names of other boards do not count: pi-3, pi-3"));
  FarmClient connection(tracker.admin());
  const auto named = connection.ask(ListDevices{"pi-3", ""});
  REQUIRE(named.is_ok());
  REQUIRE(named.value().devices.size() == 1);
  CHECK(named.value().devices[0].name == "pi-3");
  const auto tagged = connection.ask(ListDevices{"bench", ""});
  REQUIRE(tagged.value().devices.size() == 1);
  CHECK(tagged.value().devices[0].description.model.empty());
  for (int i = 0; i < 3; ++i) {
    farm::LeaseOptions wanted;
    wanted.selectors = {"pi-3"};
    const auto lease = farm::BoardLease::request(tracker.add_client("anna"), wanted);
    REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
    CHECK(lease.value()->slots().at(0).board == "pi-3");
  }
}

TEST_CASE("an admin cannot give one word to a board as its name and to others as a tag") {
  RunningTracker tracker(std::make_unique<MemoryStore>());
  FarmClient connection(tracker.admin());
  REQUIRE(connection.ask(EnrolBoard{"pi-3", {{"bench", ""}, {"pi-3", ""}}, "", false}).is_ok());
  CHECK(connection.ask(EnrolBoard{"pi-4", {{"pi-3", ""}}, "", false}).status().code() == ErrorCode::invalid_argument);
  CHECK(connection.ask(EnrolBoard{"bench", {}, "", false}).status().code() == ErrorCode::invalid_argument);
  CHECK(connection.ask(EnrolBoard{"cuda", {}, "", false}).status().code() == ErrorCode::invalid_argument);
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
  farm::LeaseOptions wanted;
  wanted.selectors = {"pi-3"};
  const auto lease = farm::BoardLease::request(tracker.add_client("anna"), wanted);
  CHECK_MESSAGE(lease.is_ok(), lease.status().message());
  for (const std::string& line : tracker.log()) {
    CAPTURE(line);
    CHECK(line.find("standing by") == std::string::npos);
  }
}

// All sessions that are recorded of a board.
std::vector<SessionListing> sessions_of(RunningTracker& tracker, const std::string& board) {
  std::vector<SessionListing> all;
  FarmClient connection(tracker.admin());
  ListSessions query{board, 0};
  for (bool has_more = true; has_more;) {
    const auto page = connection.ask(query);
    REQUIRE_MESSAGE(page.is_ok(), page.status().message());
    all.insert(all.end(), page.value().sessions.begin(), page.value().sessions.end());
    has_more = page.value().has_more;
    if (has_more) query.before = all.back().number;
  }
  return all;
}

TEST_CASE("a board that reports very many sessions displaces none of others, and few of its reports are kept") {
  RunningTracker tracker(std::make_unique<MemoryStore>());
  TestBoard liar(board_options(tracker, "liar"));
  const auto honest = tracker.join(tracker.board_key("pi-3"));
  constexpr std::size_t kReported = 2 * farm::SessionLog::kMaxSessions;
  for (std::size_t i = 0; i < kReported; ++i)
    liar.send(SessionEnded{{i, 1}, "client", 1, std::string(kMaxReport, 'x')});
  // The tracker has taken all of them once it has taken this one.
  const auto other = tracker.join(tracker.board_key("other"));
  honest->send(SessionEnded{{1, 1}, "client", 1, "crashed"});
  std::vector<SessionListing> found;
  for (int i = 0; i < 500 && found.empty(); ++i) {
    found = sessions_of(tracker, "pi-3");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  REQUIRE(found.size() == 1);
  CHECK(found[0].failure == "crashed");
  const std::vector<SessionListing> lies = sessions_of(tracker, "liar");
  CHECK(!lies.empty());
  // It may have taken more than one second.
  CHECK(lies.size() < kReported / 2);
  const auto is_long = [](const SessionListing& session) { return session.failure.size() > kMaxText; };
  CHECK(std::ranges::count_if(lies, is_long) <= static_cast<std::ptrdiff_t>(lies.size() / 20));
}

TEST_CASE("a board cannot say that somebody who did not have it used it") {
  RunningTracker tracker(std::make_unique<MemoryStore>());
  TestBoard liar(board_options(tracker, "liar"));
  const auto honest = tracker.join(tracker.board_key("pi-3"));
  farm::LeaseOptions wanted;
  wanted.selectors = {"pi-3"};
  const auto lease = farm::BoardLease::request(tracker.add_client("anna"), wanted);
  REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
  for (const auto& board : {&liar, honest.get()}) board->send(SessionEnded{{lease.value()->id(), 1}, "client", 1, ""});
  std::vector<SessionListing> lies, truths;
  for (int i = 0; i < 500 && (lies.empty() || truths.empty()); ++i) {
    lies = sessions_of(tracker, "liar");
    truths = sessions_of(tracker, "pi-3");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  REQUIRE(lies.size() == 1);
  REQUIRE(truths.size() == 1);
  CHECK(lies[0].holder.empty());
  CHECK(truths[0].holder == "anna");
}

}  // namespace
}  // namespace ferry::test
