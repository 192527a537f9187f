// Tests questions to trackers, and the addresses of farms.
#include "farm/client/farm_client.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "tests/support/farm_client/scripted_tracker.h"

namespace ferry::test {
namespace {

using namespace farm;
using namespace std::chrono_literals;
using Message = ScriptedTracker::Message;
using Peer = ScriptedTracker::Peer;

wire::DevicePage page_of(const std::string& name) {
  wire::DevicePage page;
  page.devices.resize(1);
  page.devices[0].name = name;
  return page;
}

void answer_devices(Peer& peer, const Message& message) {
  if (message.is<wire::ListDevices>()) peer.answer(message.header, page_of(message.as<wire::ListDevices>().selector));
}

}  // namespace

TEST_CASE("a question is answered, also a second one on the same connection") {
  const secure::Key key = secure::make_key();
  ScriptedTracker tracker(key, answer_devices);
  FarmClient connection(access_to({tracker.address()}, key));
  for (const char* selector : {"rpi4", "cuda"}) {
    const auto page = connection.ask(wire::ListDevices{selector, ""});
    REQUIRE_MESSAGE(page.is_ok(), page.status().message());
    CHECK(page.value().devices.at(0).name == selector);
  }
  CHECK(connection.holder() == "alice");
  CHECK(tracker.connections() == 1);
}

TEST_CASE("events between question and answer are passed over") {
  const secure::Key key = secure::make_key();
  ScriptedTracker tracker(key, [](Peer& peer, const Message& message) {
    peer.send(wire::Keepalive());
    peer.send(wire::Warning{1, 1});
    answer_devices(peer, message);
  });
  FarmClient connection(access_to({tracker.address()}, key));
  CHECK(connection.ask(wire::ListDevices{"x", ""}).is_ok());
}

TEST_CASE("a large page arrives, and escape sequences in names do not") {
  const secure::Key key = secure::make_key();
  ScriptedTracker tracker(key, [](Peer& peer, const Message& message) {
    wire::DevicePage page;
    page.devices.resize(wire::kMaxPage);
    for (auto& device : page.devices) {
      device.name = "pi\x1b[31m";
      device.description.features.assign(30, std::string(wire::kMaxName, 'f'));
    }
    peer.answer(message.header, page);
  });
  FarmClient connection(access_to({tracker.address()}, key));
  const auto page = connection.ask(wire::ListDevices());
  REQUIRE_MESSAGE(page.is_ok(), page.status().message());
  REQUIRE(page.value().devices.size() == wire::kMaxPage);
  CHECK(page.value().devices[0].name == "pi\\x1b[31m");
}

TEST_CASE("a refusal of the tracker is the answer, and the connection goes on") {
  const secure::Key key = secure::make_key();
  ScriptedTracker tracker(key, [](Peer& peer, const Message& message) {
    if (message.is<wire::OrderBoard>())
      return peer.refuse(message.header, {ErrorCode::unauthenticated, "only an admin may do this"});
    answer_devices(peer, message);
  });
  FarmClient connection(access_to({tracker.address()}, key));
  const auto done = connection.ask(wire::OrderBoard{"pi", wire::BoardOrder::retire});
  CHECK(done.status().code() == ErrorCode::unauthenticated);
  CHECK(done.status().message() == "only an admin may do this");
  CHECK(connection.ask(wire::ListDevices()).is_ok());
  CHECK(tracker.connections() == 1);
}

TEST_CASE("a tracker that stands by is passed over") {
  const secure::Key key = secure::make_key();
  ScriptedTracker standby(key, [](Peer& peer, const Message& message) {
    peer.refuse(message.header, {ErrorCode::unavailable, "this tracker stands by"});
  });
  ScriptedTracker active(key, answer_devices);
  FarmClient connection(access_to({standby.address(), active.address()}, key));
  CHECK(connection.ask(wire::ListDevices()).is_ok());
  FarmClient alone(access_to({standby.address()}, key));
  const auto page = alone.ask(wire::ListDevices());
  CHECK(page.status().code() == ErrorCode::unavailable);
  CHECK(page.status().message() == "this tracker stands by");
}

TEST_CASE("a connection that has ended meanwhile is opened again") {
  const secure::Key key = secure::make_key();
  ScriptedTracker tracker(key, answer_devices);
  FarmClient connection(access_to({tracker.address()}, key));
  REQUIRE(connection.ask(wire::ListDevices()).is_ok());
  tracker.close_all();
  CHECK(connection.ask(wire::ListDevices()).is_ok());
  CHECK(tracker.connections() == 2);
}

TEST_CASE("an answer to another question breaks the protocol") {
  const secure::Key key = secure::make_key();
  ScriptedTracker tracker(key, [](Peer& peer, const Message& message) {
    rpc::FrameHeader other = message.header;
    ++other.request;
    peer.answer(other, page_of("x"));
  });
  FarmClient connection(access_to({tracker.address()}, key));
  CHECK(connection.ask(wire::ListDevices()).status().code() == ErrorCode::protocol_error);
}

TEST_CASE("a tracker may say why it closes the connection") {
  const secure::Key key = secure::make_key();
  ScriptedTracker tracker(key, [](Peer& peer, const Message&) { peer.send(wire::Refused{"the key was revoked"}); });
  FarmClient connection(access_to({tracker.address()}, key));
  const auto page = connection.ask(wire::ListDevices());
  CHECK(page.status().message() == "tracker " + to_text(std::vector{tracker.address()}) + ": the key was revoked");
}

TEST_CASE("keepalives go on while nothing is said, and a silent tracker is given up after 11 s") {
  const secure::Key key = secure::make_key();
  ScriptedTracker tracker(key, answer_devices);
  auto link = TrackerConnection::open(access_to({tracker.address()}, key), tracker.address(), 5s);
  REQUIRE_MESSAGE(link.is_ok(), link.status().message());
  tracker.fall_silent();
  const auto begin = TrackerConnection::Clock::now();
  const auto frame = link.value()->receive(begin + 20s);
  const auto passed = TrackerConnection::Clock::now() - begin;
  REQUIRE_FALSE(frame.is_ok());
  CHECK(frame.status().message().find("has been silent for 11 s") != std::string::npos);
  CHECK(passed > 10s);
  CHECK(passed < 14s);
}

TEST_CASE("a farm's trackers are a list of addresses") {
  const auto trackers = parse_trackers("a,b:1,[::1]:2");
  REQUIRE(trackers.is_ok());
  CHECK(to_text(trackers.value()) == "a:9191,b:1,[::1]:2");
  for (const char* wrong : {"", ",", "a,", ",a", "a:0", "a:99999", "a b:x"}) {
    CAPTURE(wrong);
    CHECK(parse_trackers(wrong).status().code() == ErrorCode::invalid_argument);
  }
  std::string many = "a";
  for (std::size_t i = 0; i < kMaxTrackers; ++i) many += ",a";
  CHECK(parse_trackers(many).status().code() == ErrorCode::invalid_argument);
}

}  // namespace ferry::test
