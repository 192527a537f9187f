// Tests a client's lease against scripted trackers: how it waits, what it is granted, and how it outlives connections.
#include "farm/client/board_lease.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/farm_client/scripted_tracker.h"

namespace ferry::test {
namespace {

using namespace farm;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Message = ScriptedTracker::Message;
using Peer = ScriptedTracker::Peer;

wire::GrantedSlot slot(const std::string& board, std::uint8_t secret = 1) {
  wire::GrantedSlot made{board, "127.0.0.1:9090", 7, {}};
  made.psk.fill(secret);
  return made;
}

wire::Granted grant_of(const wire::LeaseRequest& request, std::uint64_t remaining_ms) {
  wire::Granted granted{request.id, remaining_ms, {}};
  for (std::size_t i = 0; i < request.slots.size(); ++i) granted.slots.push_back(slot("pi-" + std::to_string(i + 1)));
  return granted;
}

// Grants every request at once.
void grant(Peer& peer, const Message& message, std::uint64_t remaining_ms = 1'800'000) {
  if (message.is<wire::Submit>()) peer.send(grant_of(message.as<wire::Submit>().request, remaining_ms));
}

std::size_t count_of(const ScriptedTracker& tracker, auto is_wanted) {
  std::size_t count = 0;
  for (const Message& message : tracker.messages()) count += is_wanted(message) ? 1 : 0;
  return count;
}
template <class Event>
std::size_t count_of(const ScriptedTracker& tracker) {
  return count_of(tracker, [](const Message& message) { return message.is<Event>(); });
}

template <class Event>
Event last_of(const ScriptedTracker& tracker) {
  const auto messages = tracker.messages();
  for (auto message = messages.rbegin(); message != messages.rend(); ++message)
    if (message->is<Event>()) return message->template as<Event>();
  FAIL("expected a message that did not arrive");
  return {};
}

struct Farm {
  secure::Key key = secure::make_key();
  ScriptedTracker tracker;
  explicit Farm(ScriptedTracker::Script script) : tracker(key, std::move(script)) {}
  FarmAccess access() const { return access_to({tracker.address()}, key); }
};

std::unique_ptr<BoardLease> granted(const Farm& farm, const LeaseOptions& wanted, LeaseObserver observer = {}) {
  auto lease = BoardLease::request(farm.access(), wanted, std::move(observer));
  REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
  return std::move(lease.value());
}

Status refusal(const Farm& farm, const LeaseOptions& wanted, LeaseObserver observer = {}) {
  const auto lease = BoardLease::request(farm.access(), wanted, std::move(observer));
  CHECK_FALSE(lease.is_ok());
  return lease.status();
}

}  // namespace

TEST_CASE("a lease is granted in the order of its selectors and released with the object") {
  Farm farm([](Peer& peer, const Message& message) { grant(peer, message); });
  {
    const auto lease = granted(farm, {{"rpi4", "rpi5"}, 70, 45min, 10s});
    REQUIRE(lease->slots().size() == 2);
    CHECK(lease->slots()[0].board == "pi-1");
    CHECK(lease->slots()[1].board == "pi-2");
    CHECK(lease->remaining() > 29min);
    CHECK(lease->remaining() <= 30min);
    const wire::LeaseRequest request = last_of<wire::Submit>(farm.tracker).request;
    CHECK(request.id == lease->id());
    CHECK(request.id != 0);
    CHECK(request.slots == std::vector<std::string>{"rpi4", "rpi5"});
    CHECK(request.priority == 70);
    CHECK(request.length_ms == 45 * 60'000);
    CHECK(request.wait_ms == 10'000);
    CHECK(request.kind == wire::LeaseKind::attached);
  }
  CHECK(last_of<wire::Release>(farm.tracker).lease == last_of<wire::Submit>(farm.tracker).request.id);
  CHECK(farm.tracker.wait_until([&] { return farm.tracker.ended_connections() == 1; }));
}

TEST_CASE("the release of a lease waits for the tracker, not for a fixed time") {
  Farm farm([](Peer& peer, const Message& message) { grant(peer, message); });
  auto lease = granted(farm, {{"rpi4"}});
  const auto begin = Clock::now();
  lease.reset();
  CHECK(Clock::now() - begin < 500ms);  // a tracker that does not answer is waited for twice as long
  CHECK(count_of<wire::Release>(farm.tracker) == 1);
}

TEST_CASE("a reserved lease outlives the object") {
  Farm farm([](Peer& peer, const Message& message) { grant(peer, message); });
  LeaseOptions wanted{{"rpi4"}};
  wanted.kind = wire::LeaseKind::reserved;
  {
    const auto lease = granted(farm, wanted);
  }
  CHECK(farm.tracker.wait_until([&] { return farm.tracker.ended_connections() == 1; }));
  CHECK(count_of<wire::Release>(farm.tracker) == 0);
}

TEST_CASE("who waits hears of each place, and may cancel") {
  Farm farm([](Peer& peer, const Message& message) {
    if (!message.is<wire::Submit>()) return;
    const std::uint64_t id = message.as<wire::Submit>().request.id;
    peer.send(wire::Waiting{id + 1, 9, {}, {}});  // for another request
    peer.send(wire::Waiting{id, 3, 60'000, {}});
  });
  std::vector<std::uint32_t> places;
  std::optional<std::uint64_t> estimate;
  const Status status = refusal(farm, {{"rpi4"}},
                                {.waiting =
                                     [&](const wire::Waiting& waiting) {
                                       places.push_back(waiting.place);
                                       estimate = waiting.estimate_ms;
                                     },
                                 .is_cancelled = [&] { return !places.empty(); }});
  CHECK(status.code() == ErrorCode::aborted);
  CHECK(places == std::vector<std::uint32_t>{3});
  CHECK(estimate == 60'000);
  CHECK(count_of<wire::Release>(farm.tracker) == 1);
}

TEST_CASE("who waits for boards that are away hears so, once for each reason") {
  Farm farm([](Peer& peer, const Message& message) {
    if (!message.is<wire::Submit>()) return;
    const std::uint64_t id = message.as<wire::Submit>().request.id;
    for (const char* why : {"", "b1 is away", "b1 is away", "b1 is being checked"})
      peer.send(wire::Waiting{id, 1, {}, why});
  });
  std::vector<std::string> lines;
  const Status status = refusal(farm, {{"rpi4"}},
                                {.is_cancelled = [&] { return !lines.empty() && lines.back().ends_with("checked"); },
                                 .notice = [&](const std::string& line) { lines.push_back(line); }});
  CHECK(status.code() == ErrorCode::aborted);
  REQUIRE(!lines.empty());
  CHECK(lines.size() <= 2);
  CHECK(lines.back() == "no board can be had at the moment: b1 is being checked");
}

TEST_CASE("a request that ends without a lease says why") {
  const auto ended = [](const char* reason, const char* failure_class, const char* text) {
    Farm farm([=](Peer& peer, const Message& message) {
      if (message.is<wire::Submit>())
        peer.send(wire::Ended{message.as<wire::Submit>().request.id, reason, failure_class, text});
    });
    return refusal(farm, {{"rpi9", "cuda"}});
  };
  const Status unservable = ended("unservable", "user", "no board has the name rpi9");
  CHECK(unservable.code() == ErrorCode::invalid_argument);
  for (const char* part : {"lab", "'rpi9', 'cuda'", "no board has the name rpi9", "unservable", "user"})
    CHECK(unservable.message().find(part) != std::string::npos);
  CHECK(ended("wait_expired", "timeout", "").code() == ErrorCode::busy);
  CHECK(ended("revoked", "infrastructure", "").code() == ErrorCode::unavailable);
}

TEST_CASE("names of hostile trackers cannot move the cursor") {
  Farm farm([](Peer& peer, const Message& message) {
    if (message.is<wire::Submit>())
      peer.send(wire::Ended{message.as<wire::Submit>().request.id, "a\x1b[2J", "b\n", "\x1b]0;title\a"});
  });
  const std::string message = refusal(farm, {{"rpi4"}}).message();
  for (const char c : {'\x1b', '\n', '\a'}) CHECK(message.find(c) == std::string::npos);
}

TEST_CASE("a lost lease is attached again, as granted, and keeps its boards") {
  Farm farm([](Peer& peer, const Message& message) { grant(peer, message); });
  const auto lease = granted(farm, {{"rpi4"}});
  farm.tracker.close_all();
  REQUIRE(farm.tracker.wait_until([&] { return count_of<wire::Attach>(farm.tracker) == 1; }));
  const auto attach = last_of<wire::Attach>(farm.tracker);
  CHECK(attach.is_granted);
  CHECK(attach.request.id == lease->id());
  CHECK(attach.request.slots == std::vector<std::string>{"rpi4"});
  CHECK_FALSE(lease->wait_for_end(0ms).has_value());
  CHECK(lease->slots()[0].board == "pi-1");
}

TEST_CASE("a lost tracker is followed by the next one, where the request goes on") {
  const secure::Key key = secure::make_key();
  ScriptedTracker first(key, [](Peer& peer, const Message& message) {
    if (message.is<wire::Submit>()) peer.close();
  });
  ScriptedTracker second(key, [](Peer& peer, const Message& message) {
    if (message.is<wire::Attach>()) peer.send(grant_of(message.as<wire::Attach>().request, 60'000));
  });
  const auto lease = BoardLease::request(access_to({first.address(), second.address()}, key), {{"rpi4"}}, {});
  REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
  const auto attach = last_of<wire::Attach>(second);
  CHECK_FALSE(attach.is_granted);
  CHECK(attach.request.id == last_of<wire::Submit>(first).request.id);
}

TEST_CASE("a tracker that refuses clients because it stands by is passed over") {
  const secure::Key key = secure::make_key();
  ScriptedTracker standby(key, [](Peer&, const Message&) {});
  standby.refuse_hello({ErrorCode::unavailable, "this tracker stands by"});
  ScriptedTracker active(key, [](Peer& peer, const Message& message) { grant(peer, message); });
  const auto lease = BoardLease::request(access_to({standby.address(), active.address()}, key), {{"rpi4"}}, {});
  CHECK_MESSAGE(lease.is_ok(), lease.status().message());
}

TEST_CASE("a key that the tracker does not know is named, and not tried again") {
  Farm farm([](Peer& peer, const Message& message) { grant(peer, message); });
  const auto lease = BoardLease::request(access_to({farm.tracker.address()}, secure::make_key()), {{"rpi4"}}, {});
  REQUIRE_FALSE(lease.is_ok());
  CHECK(lease.status().code() == ErrorCode::unauthenticated);
  CHECK(lease.status().message().find("alice.key") != std::string::npos);
  CHECK(lease.status().message().find("127.0.0.1:" + std::to_string(farm.tracker.address().port)) != std::string::npos);
}

TEST_CASE("where nobody listens the error names every tracker") {
  const secure::Key key = secure::make_key();
  TcpAddress gone;
  {
    gone = ScriptedTracker(key, [](Peer&, const Message&) {}).address();
  }
  const auto lease = BoardLease::request(access_to({gone, {"127.0.0.1", 1}}, key), {{"rpi4"}}, {});
  REQUIRE_FALSE(lease.is_ok());
  CHECK(lease.status().code() == ErrorCode::unavailable);
  CHECK(lease.status().message().find(to_text(std::vector{gone})) != std::string::npos);
  CHECK(lease.status().message().find("127.0.0.1:1") != std::string::npos);
}

TEST_CASE("a lease without a length is extended when half of it is over") {
  Farm farm([](Peer& peer, const Message& message) {
    grant(peer, message, 1000);
    if (message.is<wire::Extend>()) peer.send(wire::Extension{message.as<wire::Extend>().lease, 1'800'000, ""});
  });
  const auto begin = Clock::now();
  const auto lease = granted(farm, {{"rpi4"}});
  REQUIRE(farm.tracker.wait_until([&] { return count_of<wire::Extend>(farm.tracker) == 1; }));
  CHECK(Clock::now() - begin >= 490ms);
  CHECK(last_of<wire::Extend>(farm.tracker).length_ms == 1'800'000);
  CHECK(farm.tracker.wait_until([&] { return lease->remaining() > 29min; }));
}

TEST_CASE("a lease with a length is not extended, and its end is announced and told") {
  Farm farm([](Peer& peer, const Message& message) {
    grant(peer, message, 200);
    if (message.is<wire::Submit>()) {
      const std::uint64_t id = message.as<wire::Submit>().request.id;
      peer.send(wire::Warning{id, 100});
      peer.send(wire::Ended{id, "lease_expired", "timeout", "the lease has lasted for as long as it may"});
    }
  });
  std::mutex mutex;
  std::string notice;
  const auto lease =
      granted(farm, {{"rpi4"}, 50, 10min}, {.waiting = {}, .is_cancelled = {}, .notice = [&](const std::string& line) {
                                              const std::lock_guard lock(mutex);
                                              notice = line;
                                            }});
  const auto end = lease->wait_for_end(5s);
  REQUIRE(end.has_value());
  CHECK(to_text(*end) == "lease_expired, timeout: the lease has lasted for as long as it may");
  CHECK(lease->remaining() == 0ms);
  CHECK(count_of<wire::Extend>(farm.tracker) == 0);
  const std::lock_guard lock(mutex);
  CHECK(notice == "the lease of pi-1 ends in 100 ms");
}

TEST_CASE("an extension that is refused says why, and is not asked for all the time") {
  Farm farm([](Peer& peer, const Message& message) {
    grant(peer, message, 400);
    if (message.is<wire::Extend>())
      peer.send(wire::Extension{message.as<wire::Extend>().lease, 200, "others wait for the board"});
  });
  const auto lease = granted(farm, {{"rpi4"}});
  const auto extended = lease->extend(2h);
  REQUIRE_FALSE(extended.is_ok());
  CHECK(extended.status().code() == ErrorCode::busy);
  CHECK(extended.status().message().find("others wait for the board") != std::string::npos);
  CHECK(last_of<wire::Extend>(farm.tracker).length_ms == 2 * 3'600'000);
  for (int i = 0; i < 50; ++i) {  // warnings do not make it ask more often
    farm.tracker.with_peers([&](Peer& peer) { peer.send(wire::Warning{lease->id(), 100}); });
  }
  // It would ask again soon. No event tells that it will not.
  std::this_thread::sleep_for(200ms);
  CHECK(count_of<wire::Extend>(farm.tracker) <= 2);
}

TEST_CASE("without any tracker a lease ends for its client when its time is over") {
  Farm farm([](Peer& peer, const Message& message) { grant(peer, message, 1500); });
  const auto lease = granted(farm, {{"rpi4"}});
  farm.tracker.refuse_hello({ErrorCode::unavailable, "this tracker stands by"});
  farm.tracker.close_all();
  CHECK_FALSE(lease->wait_for_end(200ms).has_value());
  const auto end = lease->wait_for_end(5s);
  REQUIRE(end.has_value());
  CHECK(end->reason == "lease_expired");
  CHECK(end->text.find("this tracker stands by") != std::string::npos);
}

TEST_CASE("what no tracker sends ends the wait with the reason") {
  const auto answered = [](auto answer) {
    Farm farm([=](Peer& peer, const Message& message) {
      if (message.is<wire::Submit>()) answer(peer, message.as<wire::Submit>().request);
    });
    const Status status = refusal(farm, {{"rpi4"}});
    CHECK(status.code() == ErrorCode::protocol_error);
    return status.message();
  };
  CHECK(answered([](Peer& peer, const wire::LeaseRequest& request) {
          peer.send(wire::Granted{request.id, 1000, {}});
        }).find("expected 1 boards, got 0") != std::string::npos);
  CHECK(answered([](Peer& peer, const wire::LeaseRequest& request) {
          wire::Granted granted = grant_of(request, 1000);
          granted.slots[0].address = "nowhere";
          peer.send(granted);
        }).find("expected HOST:PORT as the address of pi-1, got 'nowhere'") != std::string::npos);
  answered([](Peer& peer, const wire::LeaseRequest&) {
    const auto tag = static_cast<std::uint16_t>(wire::Tag::Granted);
    peer.send_bytes(rpc::whole_frame({rpc::FrameKind::event, tag}, std::vector<std::uint8_t>{1, 2, 3}));
  });
  answered([](Peer& peer, const wire::LeaseRequest&) { peer.send_bytes(std::vector<std::uint8_t>(64, 'x')); });
  answered([](Peer& peer, const wire::LeaseRequest&) {
    const rpc::FrameHeader header{rpc::FrameKind::event, 92, ErrorCode::ok, 0, 0, 1};
    peer.send_bytes(rpc::encode_frame_header(header));
  });
}

TEST_CASE("unknown events and those of other leases change nothing") {
  Farm farm([](Peer& peer, const Message& message) {
    if (!message.is<wire::Submit>()) return;
    const wire::LeaseRequest request = message.as<wire::Submit>().request;
    wire::Granted other = grant_of(request, 1000);
    other.lease = request.id + 1;
    peer.send(other);
    peer.send(wire::Ended{request.id + 1, "revoked", "infrastructure", ""});
    peer.send_bytes(rpc::whole_frame({rpc::FrameKind::event, 60'000}, std::vector<std::uint8_t>{1}));
    peer.send(grant_of(request, 60'000));
  });
  const auto lease = granted(farm, {{"rpi4"}});
  CHECK(lease->slots()[0].board == "pi-1");
  CHECK_FALSE(lease->wait_for_end(50ms).has_value());
}

TEST_CASE("boards that were granted are never exchanged for others") {
  Farm farm([](Peer& peer, const Message& message) { grant(peer, message); });
  const auto lease = granted(farm, {{"rpi4"}});
  farm.tracker.with_peers([&](Peer& peer) { peer.send(wire::Granted{lease->id(), 60'000, {slot("pi-1", 2)}}); });
  REQUIRE(farm.tracker.wait_until([&] { return count_of<wire::Attach>(farm.tracker) == 1; }));
  CHECK(lease->slots()[0].psk == slot("pi-1").psk);
}

}  // namespace ferry::test
