// Tests that text from clients and kernels cannot control the terminals that show it, nor forge lines of the log.
#include <doctest/doctest.h>
#include <sys/syscall.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

constexpr const char* kHostile = "mallory\x1b[2J\nsession 9: root from 127.0.0.1:1\x07";
constexpr const char* kShown = R"(mallory\x1b[2J\nsession 9: root from 127.0.0.1:1\x07)";

rpc::Open hostile() {
  rpc::Open open;
  open.client = kHostile;
  return open;
}

bool is_plain(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
}

// The server writes to its log slightly after it answers.
std::string errors_with(const TestServer& server, const std::string& expected) {
  for (int i = 0; i < 500 && server.errors().find(expected) == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return server.errors();
}

TEST_CASE("a client's name reaches the log, the status and those who wait as one line of plain text") {
  TestServer server({"--sessions", "1"});
  TestClient holder(server.port(), hostile());
  const auto waiting = join_queue(server.port(), hostile());
  const auto event = waiting->receive_frame();
  REQUIRE(event.is_ok());
  CHECK(rpc::decode<rpc::WaitingEvent>(event.value().body).value().holder == kShown);

  rpc::Connection asking(connect_to(server.port()));
  asking.put_preamble_before_first_frame({});
  REQUIRE(asking.send_request(1, rpc::GetStatus{}).is_ok());
  const auto frame = asking.receive_frame();
  REQUIRE(frame.is_ok());
  const auto status = rpc::decode<rpc::StatusReply>(frame.value().body).value();
  REQUIRE(status.sessions.size() == 1);
  CHECK(status.sessions[0].client == kShown);
  REQUIRE(status.waiting.size() == 1);
  CHECK(status.waiting[0].client == kShown);

  const std::string log = errors_with(server, kShown);
  CHECK(log.find("session 1: " + std::string(kShown) + " from 127.0.0.1:") != std::string::npos);
  CHECK(is_plain(log));
}

TEST_CASE("what a kernel writes to standard error itself is told in the log, a line at a time and in plain text") {
  if (!is_native()) return;  // the system call numbers are those of this machine
  TestServer server;
  {
    TestClient client(server.port());
    SystemCaller call(client);
    const std::string text = "first\x1b[31m\nsession 7: ended\nlast";
    CHECK(call(SYS_write, {2, SystemCaller::kText, static_cast<std::int64_t>(text.size())}, text) > 0);
  }
  const std::string log = errors_with(server, "session 1: stderr: last");
  CHECK(log.find("\nsession 1: stderr: first\\x1b[31m\nsession 1: stderr: session 7: ended\n") != std::string::npos);
  CHECK(log.find("\nsession 1: stderr: last\n") != std::string::npos);
  CHECK(is_plain(log));
}

TEST_CASE("a kernel that writes to standard error without end fills neither the log nor the server's time") {
  if (!is_native()) return;  // the system call numbers are those of this machine
  TestServer server({"--sessions", "1"});
  {
    TestClient client(server.port());
    SystemCaller call(client);
    const std::string line(99, 'x');
    call(SYS_write, {2, SystemCaller::kText, 100}, line + "\n", 20'000);
    CHECK(call(SYS_write, {2, SystemCaller::kText, 100}, line + "\n") < 0);
  }
  const std::string log = errors_with(server, "is not shown");
  CHECK(log.find("session 1: stderr: what else it writes to standard error is not shown") != std::string::npos);
  CHECK(log.size() < 100'000);
  TestClient next(server.port());
  CHECK(next.ask(rpc::Ping{}).status.is_ok());
}

TEST_CASE("a quiet server passes on what sessions write, in plain text") {
  if (!is_native()) return;  // the system call numbers are those of this machine
  TestServer server({"--quiet"});
  {
    TestClient client(server.port());
    SystemCaller call(client);
    call(SYS_write, {2, SystemCaller::kText, 7}, "\x1b[2Jend");
  }
  CHECK(errors_with(server, "end\n").find("\\x1b[2Jend\n") != std::string::npos);
  CHECK(server.errors().find("session") == std::string::npos);
}

}  // namespace
}  // namespace ferry::test
