// Tests of more clients than places: they wait in order, know their position, and the server's status lists them.
#include <doctest/doctest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

rpc::WaitingEvent next_place(rpc::Connection& connection) {
  const auto frame = connection.receive_frame();
  REQUIRE_MESSAGE(frame.is_ok(), frame.status().message());
  REQUIRE(frame.value().header.kind == rpc::FrameKind::event);
  REQUIRE(frame.value().header.tag == static_cast<std::uint16_t>(rpc::EventTag::waiting));
  return rpc::decode<rpc::WaitingEvent>(frame.value().body).value();
}

bool is_served(rpc::Connection& connection) {
  const auto frame = connection.receive_frame();
  return frame.is_ok() && frame.value().header.kind == rpc::FrameKind::response &&
         frame.value().header.error == ErrorCode::ok;
}

rpc::StatusReply status_of(const TestServer& server) {
  rpc::Connection connection(connect_to(server.port()));
  connection.put_preamble_before_first_frame({});
  CHECK(connection.send_request(1, rpc::GetStatus{}).is_ok());
  const auto frame = connection.receive_frame();
  REQUIRE_MESSAGE(frame.is_ok(), frame.status().message());
  auto reply = rpc::decode<rpc::StatusReply>(frame.value().body);
  REQUIRE_MESSAGE(reply.is_ok(), reply.status().message());
  return reply.value();
}

TEST_CASE("one session runs at a time by default, others are told their place and who holds the device") {
  TestServer server({"--sessions", "1"});
  auto holder = std::make_unique<TestClient>(server.port(), open_as("the holder"));
  const auto second = join_queue(server.port(), open_as("the second"));
  rpc::WaitingEvent place = next_place(*second);
  CHECK(place.position == 1);
  CHECK(place.holder == "the holder");
  const auto third = join_queue(server.port(), open_as("the third"));
  CHECK(next_place(*third).position == 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  holder.reset();
  CHECK(is_served(*second));
  place = next_place(*third);
  CHECK(place.position == 1);
  CHECK(place.holder == "the second");
  second->transport().close();
  CHECK(is_served(*third));
}

TEST_CASE("who gives up makes room for those behind") {
  TestServer server({"--sessions", "1"});
  TestClient holder(server.port(), open_as("the holder"));
  const auto second = join_queue(server.port(), open_as("the second"));
  next_place(*second);
  const auto third = join_queue(server.port(), open_as("the third"));
  CHECK(next_place(*third).position == 2);
  second->transport().close();
  CHECK(next_place(*third).position == 1);
}

TEST_CASE("a full queue refuses with the number that wait and the holder") {
  TestServer server({"--sessions", "1", "--queue", "1"});
  TestClient holder(server.port(), open_as("the holder"));
  const auto second = join_queue(server.port(), open_as("the second"));
  next_place(*second);
  const auto third = join_queue(server.port(), open_as("the third"));
  const auto frame = third->receive_frame();
  REQUIRE(frame.is_ok());
  const Status status = rpc::failure_of(frame.value());
  CHECK(status.code() == ErrorCode::busy);
  CHECK(status.message() == "all places are taken and 1 clients wait already; the device is held by the holder");
}

TEST_CASE("requests sent while waiting are answered when it is the client's turn") {
  TestServer server({"--sessions", "1"});
  auto holder = std::make_unique<TestClient>(server.port());
  const auto waiting = join_queue(server.port(), open_as("eager"));
  CHECK(waiting->send_request(2, rpc::Ping{}).is_ok());
  next_place(*waiting);
  holder.reset();
  CHECK(is_served(*waiting));
  CHECK(is_served(*waiting));
}

TEST_CASE("time in the queue counts for no limit") {
  TestServer server({"--sessions", "1"});
  auto holder = std::make_unique<TestClient>(server.port());
  rpc::Open open = open_as("patient");
  open.limits = {700, 700, 700};
  const auto waiting = join_queue(server.port(), open);
  next_place(*waiting);
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  holder.reset();
  CHECK(is_served(*waiting));
  CHECK(waiting->send_request(2, rpc::Ping{}).is_ok());
  CHECK(is_served(*waiting));
}

TEST_CASE("status answers while a kernel runs and names who runs what and who waits") {
  TestServer server({"--sessions", "1"});
  TestClient holder(server.port(), open_as("the holder"));
  holder.send(rpc::Call{put(holder, kit_file()), "forever", {}});
  const auto second = join_queue(server.port(), open_as("the second"));
  next_place(*second);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const rpc::StatusReply status = status_of(server);
  CHECK(status.max_sessions == 1);
  REQUIRE(status.sessions.size() == 1);
  CHECK(status.sessions[0].client == "the holder");
  CHECK(status.sessions[0].number == 1);
  CHECK(status.sessions[0].peer.rfind("127.0.0.1:", 0) == 0);
  CHECK(status.sessions[0].function == "forever");
  CHECK(status.sessions[0].running_ms >= 100);
  REQUIRE(status.waiting.size() == 1);
  CHECK(status.waiting[0].client == "the second");
  CHECK(status.waiting[0].since_ms >= 100);
}

TEST_CASE("status counts the sessions that ended and those that ended badly") {
  TestServer server({"--sessions", "1"});
  {
    TestClient good(server.port());
    good.must(rpc::Close{});
  }
  {
    TestClient bad(server.port());
    CHECK(bad.ask(rpc::Call{put(bad, kit_file()), "null_pointer", {}}).status.code() == ErrorCode::kernel_crashed);
  }
  TestClient next(server.port());
  const rpc::StatusReply status = status_of(server);
  CHECK(status.sessions_ended == 2);
  CHECK(status.sessions_failed == 1);
}

TEST_CASE("a device that the server does not have is refused by name") {
  TestServer server;
  rpc::Open open = open_as("somebody with other plans");
  open.devices = {"cpu", "abacus"};
  const auto connection = join_queue(server.port(), open);
  const auto frame = connection->receive_frame();
  REQUIRE(frame.is_ok());
  CHECK(rpc::failure_of(frame.value()).code() == ErrorCode::unsupported);
  // A static server adds the reason why it has no device but the CPU.
  CHECK(rpc::failure_of(frame.value()).message().rfind("this server has no device 'abacus'", 0) == 0);
}

}  // namespace
}  // namespace ferry::test
