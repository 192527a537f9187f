// Tests that connections share a farm's board, and what they say when its lease ends, with a scripted tracker and a
// scripted board.
#include "host/client/leased_board.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "host/client/connect_to.h"
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
  if (!message.is<wire::Submit>()) return;
  const wire::LeaseRequest request = message.as<wire::Submit>().request;
  wire::Granted granted{request.id, 60'000, {}};
  for (const std::string& selector : request.slots) {
    wire::GrantedSlot slot{selector + "-" + std::to_string(granted.slots.size()), "127.0.0.1:1", 1, {}};
    granted.slots.push_back(slot);
  }
  peer.send(granted);
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
    CHECK(boards[3]->destination({}, boards[3]).name == "a-2 (" + farm.address("a") + ")");
    CHECK(boards[0]->destination({}, boards[0]).name == "a-0 (" + farm.address("a") + ")");
    CHECK(boards[2]->destination({}, boards[2]).name == "b-1 (" + farm.address("b") + ")");
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
