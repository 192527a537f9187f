// Tests that connections share a farm's board, and what they say when its lease ends, with a scripted tracker and a
// scripted board.
#include "farm/client/farm_connector.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "ferry/client.h"
#include "tests/support/farm_client/scripted_tracker.h"

using namespace ferry;
using namespace ferry::test;
namespace wire = farm::wire;
using Message = ScriptedTracker::Message;
using Peer = ScriptedTracker::Peer;

namespace {

// A tracker whose boards have addresses where nobody listens.
struct BoardFarm {
  secure::Key key = secure::make_key();
  ScriptedTracker tracker;
  std::string key_file;
  explicit BoardFarm(ScriptedTracker::Script script) : tracker(key, std::move(script)) {
    char pattern[] = "/tmp/ferry-board-XXXXXX";
    REQUIRE(mkdtemp(pattern) != nullptr);
    key_file = std::string(pattern) + "/alice.key";
    REQUIRE(secure::write_key_file(key_file, key).is_ok());
  }
  ~BoardFarm() { std::filesystem::remove_all(std::filesystem::path(key_file).parent_path()); }
  std::string address(const std::string& rest) const {
    return "farm://127.0.0.1:" + std::to_string(tracker.address().port) + "/" + rest;
  }
  std::vector<wire::LeaseRequest> requests() const {
    std::vector<wire::LeaseRequest> found;
    for (const Message& message : tracker.messages())
      if (message.is<wire::Submit>()) found.push_back(message.as<wire::Submit>().request);
    return found;
  }
  std::size_t releases() const {
    std::size_t count = 0;
    for (const Message& message : tracker.messages()) count += message.is<wire::Release>() ? 1 : 0;
    return count;
  }
};

void grant_all(Peer& peer, const Message& message) {
  if (message.is<wire::UseRelay>()) peer.refuse(message.header, {ErrorCode::not_found, "there is no relay"});
  if (!message.is<wire::Submit>()) return;
  const wire::LeaseRequest request = message.as<wire::Submit>().request;
  wire::Granted granted{request.id, 60'000, {}};
  for (const std::string& selector : request.slots) {
    wire::GrantedSlot slot{selector + "-" + std::to_string(granted.slots.size()), "127.0.0.1:1", 1, {}};
    granted.slots.push_back(slot);
  }
  peer.send(granted);
}

std::string error_from(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  FAIL("expected an Error");
  return "";
}

std::string failure_of(const BoardFarm& farm, const std::string& address, ConnectOptions options) {
  options.key_file = farm.key_file;
  try {
    connect(address, options);
  } catch (const Error& error) {
    return std::string(error_name(error.code())) + ": " + error.what();
  }
  FAIL("expected an Error");
  return "";
}

}  // namespace

TEST_CASE("boards of one farm are one request, in the order of their addresses") {
  BoardFarm farm(grant_all);
  {
    const auto boards = share_boards({farm.address("a?priority=9"), "plaintext://127.0.0.1:1", farm.address("b"),
                                      farm.address("a?length=20m&wait=2h&job=nightly%20run")},
                                     farm.key_file);
    REQUIRE(boards.size() == 4);
    CHECK(boards[1] == nullptr);
    CHECK(farm.requests().empty());
    const auto said = [&](std::size_t board) { return error_from([&] { boards[board]->open({}); }); };
    CHECK(said(3).find("a-2 (" + farm.address("a") + "): ") == 0);
    CHECK(said(0).find("a-0 (" + farm.address("a") + "): ") == 0);
    CHECK(said(2).find("b-1 (" + farm.address("b") + "): ") == 0);
    CHECK(said(2).find("; nor can it be reached through the tracker: ") != std::string::npos);
    const auto requests = farm.requests();
    REQUIRE(requests.size() == 1);
    CHECK(requests[0].slots == std::vector<std::string>{"a", "b", "a"});
    CHECK(requests[0].priority == 9);
    CHECK(requests[0].length_ms == 20 * 60'000);
    CHECK(requests[0].wait_ms == 2 * 3'600'000);
    CHECK(requests[0].job == "nightly run");
    CHECK(farm.releases() == 0);
  }
  CHECK(farm.releases() == 1);
}

TEST_CASE("boards of two farms, or with two keys of one, are two requests") {
  BoardFarm one(grant_all), other(grant_all);
  REQUIRE(secure::write_key_file(one.key_file + ".other", other.key).is_ok());
  const auto boards = farm::with_farm().shared_connectors({one.address("a"), other.address("b")}, one.key_file);
  const auto stranger = farm::with_farm().shared_connectors({one.address("c")}, one.key_file + ".other");
  CHECK(error_from([&] { boards[0]->open({}); }).find("a-0 (") == 0);
  CHECK(error_from([&] { boards[1]->open({}); }).find("is not accepted") != std::string::npos);
  CHECK(error_from([&] { stranger[0]->open({}); }).find("is not accepted") != std::string::npos);
  REQUIRE(one.requests().size() == 1);
  CHECK(one.requests()[0].slots == std::vector<std::string>{"a"});
}

TEST_CASE("boards that are leased together agree on their options") {
  BoardFarm farm(grant_all);
  try {
    share_boards({farm.address("a?priority=9"), farm.address("b?priority=8")}, farm.key_file);
    FAIL("expected an Error");
  } catch (const UsageError& error) {
    CHECK(std::string(error.what()) ==
          "boards of one farm are leased together: expected the same priority for all of them, got two");
  }
}

TEST_CASE("a board that does not answer is an error that names it, and the lease is given back") {
  BoardFarm farm(grant_all);
  const std::string message = failure_of(farm, farm.address("rpi4"), {});
  CHECK(message.find("unavailable: ") == 0);
  CHECK(message.find("127.0.0.1:1") != std::string::npos);
  CHECK(farm.releases() == 1);
  CHECK(farm.requests().at(0).wait_ms == 7 * 24 * 3'600'000);
}

TEST_CASE("waiting for a place on a server bounds waiting for a board too") {
  BoardFarm farm(grant_all);
  ConnectOptions options;
  options.deadlines.queue = 1.5;
  failure_of(farm, farm.address("rpi4?wait=1h"), options);
  CHECK(farm.requests().at(0).wait_ms == 1500);
}

TEST_CASE("who waits for a board is told its place and may give up") {
  BoardFarm farm([](Peer& peer, const Message& message) {
    if (message.is<wire::Submit>()) peer.send(wire::Waiting{message.as<wire::Submit>().request.id, 2, 90'000, {}});
  });
  QueuePlace place;
  ConnectOptions options;
  options.queued = [&](const QueuePlace& told) { place = told; };
  options.is_cancelled = [&] { return place.position != 0; };
  CHECK(failure_of(farm, farm.address("rpi4"), options) == "aborted: cancelled while it waited for 'rpi4'");
  CHECK(place.position == 2);
  CHECK(place.holder.empty());
  CHECK(place.wait_seconds == 90.0);
}

TEST_CASE("a lease that has ended is named as the reason why its board does not answer") {
  BoardFarm farm([](Peer& peer, const Message& message) {
    grant_all(peer, message);
    if (message.is<wire::Submit>())
      peer.send(
          wire::Ended{message.as<wire::Submit>().request.id, "revoked", "infrastructure", "an admin has ended it"});
  });
  const std::string message = failure_of(farm, farm.address("rpi4"), {});
  CHECK(message.find("unavailable: the lease of rpi4-0 has ended: revoked, infrastructure: an admin has ended it") ==
        0);
}
