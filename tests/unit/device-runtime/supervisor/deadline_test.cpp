// Tests of time limits and of clients that disappear in various ways: the device must soon be free again.
#include <doctest/doctest.h>
#include <linux/filter.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

#include "tests/unit/device-runtime/supervisor/instance_fixture.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

rpc::Open with_limits(std::uint64_t call_ms, std::uint64_t session_ms, std::uint64_t idle_ms) {
  rpc::Open open;
  open.client = "a test with limits";
  open.limits = {call_ms, session_ms, idle_ms};
  return open;
}

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// A new client gets the only place, for which it waits as long as it takes.
void wait_until_free(const TestServer& server) { TestClient next(server.port()); }

TEST_CASE("a call beyond its deadline is stopped, and the client hears function and time") {
  TestServer server({"--sessions", "1"});
  TestClient client(server.port(), with_limits(300, 0, 0));
  CHECK(client.opened().limits.call_ms == 300);
  const rpc::Handle module = put(client, kit_file());
  const auto answer = client.ask(rpc::Call{module, "forever", {}});
  CHECK(answer.status.code() == ErrorCode::deadline_exceeded);
  CHECK(answer.status.message().rfind("forever was stopped after ", 0) == 0);
  CHECK(answer.status.message().find("the limit of a call is 0.3 s") != std::string::npos);
  CHECK_FALSE(client.next_response().is_ok());
  wait_until_free(server);
}

TEST_CASE("an init plan beyond the deadline of a call is stopped") {
  TestServer server({"--sessions", "1"});
  TestClient client(server.port(), with_limits(300, 0, 0));
  ModuleFile file = kit_module();
  file.manifest.functions.push_back(failing("endless", "forever"));
  const rpc::Handle module = put(client, write_module(file)), b = client.upload(std::vector<float>(8));
  const Status status = client.ask(rpc::Bind{client.new_handle(), module, "endless", {tensor(b, {8})}}).status;
  CHECK(status.code() == ErrorCode::deadline_exceeded);
  CHECK_MESSAGE(status.message().rfind("endless was stopped after ", 0) == 0, status.message());
  wait_until_free(server);
}

TEST_CASE("short calls one after the other do not add up to a deadline") {
  TestServer server;
  TestClient client(server.port(), with_limits(1000, 0, 0));
  const rpc::Handle module = put(client, kit_file());
  const auto begin = Clock::now();
  while (seconds_since(begin) < 1.5) client.must(rpc::Call{module, "spin", {scalar(std::int64_t{1'000'000})}});
}

TEST_CASE("a session beyond its deadline is stopped in a call and between calls") {
  TestServer server;
  TestClient busy(server.port(), with_limits(0, 500, 0)), quiet(server.port(), with_limits(0, 500, 0));
  const rpc::Handle module = put(busy, kit_file());
  const Status status = busy.ask(rpc::Call{module, "forever", {}}).status;
  CHECK(status.code() == ErrorCode::deadline_exceeded);
  CHECK(status.message().find("the limit of a session is 0.5 s") != std::string::npos);
  const auto last = quiet.next_response();
  REQUIRE(last.is_ok());
  CHECK(last.value().header.request == 0);
  CHECK(rpc::failure_of(last.value()).code() == ErrorCode::deadline_exceeded);
}

TEST_CASE("a client that does nothing is ended, one that sends or computes is not") {
  TestServer server;
  TestClient idle(server.port(), with_limits(0, 0, 600)), busy(server.port(), with_limits(0, 0, 600));
  const rpc::Handle module = put(busy, kit_file());
  const auto begin = Clock::now();
  while (seconds_since(begin) < 2.0) {
    busy.must(rpc::Ping{});
    std::this_thread::sleep_for(milliseconds(50));
  }
  busy.send(rpc::Call{module, "spin", {scalar(std::int64_t{400'000'000})}});
  const auto last = idle.next_response();
  REQUIRE(last.is_ok());
  CHECK(rpc::failure_of(last.value()).message().find("the limit of doing nothing is 0.6 s") != std::string::npos);
  CHECK(busy.next_response().is_ok());
}

TEST_CASE("the server's maxima hold whatever the client asks for, and are what it gets when it asks for nothing") {
  TestServer server({"--call-deadline", "2", "--idle-deadline", "0"});
  const rpc::TimeLimits more = TestClient(server.port(), with_limits(5000, 1000, 7000)).opened().limits;
  CHECK(more.call_ms == 2000);
  CHECK(more.session_ms == 1000);
  CHECK(more.idle_ms == 7000);
  const rpc::TimeLimits none = TestClient(server.port(), with_limits(0, 0, 0)).opened().limits;
  CHECK(none.call_ms == 2000);
  CHECK(none.session_ms == 86'400'000);
  CHECK(none.idle_ms == 0);
}

TEST_CASE("a client process that is killed while its kernel runs frees the device") {
  TestServer server({"--sessions", "1"});
  const Bytes& file = kit_file();
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    TestClient client(server.port());
    client.send(rpc::Call{put(client, file), "forever", {}});
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WTERMSIG(status) == SIGKILL);
  wait_until_free(server);
}

TEST_CASE("a host that falls silent frees the device") {
  if (!is_native()) return;  // the emulator does not pass these socket options on
  struct Silent {
    TestServer server{{"--sessions", "1"}};
    TestClient client{server.port()};
  };
  // An idle client, one with a running kernel, and one with an answer in flight that will not be acknowledged.
  std::array<Silent, 3> all;
  for (std::size_t i = 1; i < all.size(); ++i) {
    TestClient& client = all[i].client;
    const rpc::Handle module = put(client, kit_file());
    if (i == 2) {
      client.send(rpc::Call{module, "spin", {scalar(std::int64_t{300'000'000})}});
      continue;
    }
    // This one waits for ever instead of computing for ever.
    rpc::Call waiting{module, "system", {}};
    for (const std::int64_t argument : {std::int64_t{SYS_ppoll}, 0L, 0L, 0L, 0L, 1L})
      waiting.arguments.push_back(scalar(argument));
    waiting.arguments.push_back(tensor(client.upload(Bytes(1)), {1}, DType::u8));
    waiting.arguments.push_back(tensor(client.upload(std::vector<std::int64_t>{0}), {1}, DType::i64));
    client.send(waiting);
  }
  // The data sent must first be acknowledged; otherwise it is retransmitted, and the line is not silent.
  std::this_thread::sleep_for(milliseconds(100));
  // From now on the client's system receives nothing and answers nothing, not even that the connection is gone.
  sock_filter nothing{BPF_RET | BPF_K, 0, 0, 0};
  const sock_fprog program{1, &nothing};
  for (Silent& one : all) {
    REQUIRE(setsockopt(one.client.connection().transport().native_handle(), SOL_SOCKET, SO_ATTACH_FILTER, &program,
                       sizeof program) == 0);
  }
  for (const Silent& one : all) wait_until_free(one.server);
}

TEST_CASE("a kernel that listens to no SIGTERM is killed when its grace is over") {
  if (!is_native()) return;  // the emulator keeps its own signals
  TestServer server({"--sessions", "1"});
  TestClient client(server.port(), with_limits(300, 0, 0));
  SystemCaller call(client);
  // Blocks every signal that can be blocked.
  REQUIRE(call(SYS_rt_sigprocmask, {SIG_BLOCK, SystemCaller::kText, 0, 8}, std::string(8, '\xff')) == 0);
  const auto begin = Clock::now();
  const Status status = client.ask(rpc::Call{put(client, kit_file()), "forever", {}}).status;
  CHECK(status.code() == ErrorCode::deadline_exceeded);
  CHECK(status.message().rfind("forever was stopped after ", 0) == 0);
  CHECK(seconds_since(begin) > 0.75);
  wait_until_free(server);
}

TEST_CASE("the whole group of a session's processes ends at a deadline") {
  TestServer server;
  TestClient client(server.port(), with_limits(300, 0, 0));
  const rpc::Handle module = put(client, kit_file());
  const auto sessions = only_child_of(server.process());
  REQUIRE(sessions.size() == 1);
  CHECK(getpgid(sessions[0]) == sessions[0]);
  CHECK(client.ask(rpc::Call{module, "forever", {}}).status.code() == ErrorCode::deadline_exceeded);
  // Its processes are killed by then; what inherits them takes a moment to notice.
  for (int i = 0; i < 500 && kill(-sessions[0], 0) == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(kill(-sessions[0], 0) != 0);
}

}  // namespace
}  // namespace ferry::test
