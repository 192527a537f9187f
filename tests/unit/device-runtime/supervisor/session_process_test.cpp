// Tests how a session's process begins.
#include "device-runtime/supervisor/session_process.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "device-runtime/facts/facts.h"
#include "tests/unit/device-runtime/support/next_session.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_server.h"
#include "tests/unit/rpc/server/socket_pair.h"

namespace ferry::device {
namespace {

using Clock = std::chrono::steady_clock;

// Returns the wait status; -1 if the process has not ended within two seconds.
int end_of(pid_t process) {
  int status = 0;
  for (const auto end = Clock::now() + std::chrono::seconds(2); Clock::now() < end;) {
    if (waitpid(process, &status, WNOHANG) == process) return status;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
  return -1;
}

TEST_CASE("a session that is signalled before it has a process group gets the signal") {
  SessionOptions options;
  options.facts = gather_facts({.server_version = "test", .flavour = "test"});
  const MemoryKiller killer;
  server::SecretMemory secrets(1);
  ActivityPages pages(1);
  for (const int signal : {SIGKILL, SIGTERM}) {
    for (int delay_us = 0; delay_us < 200; ++delay_us) {
      test::SocketPair sockets;
      server::HandshakenClient client;
      client.socket = std::move(sockets.server);
      const ActivityPage page = std::move(pages.take().value());
      const Result<pid_t> process = start_session(client, options, page, secrets, killer, {});
      REQUIRE_MESSAGE(process.is_ok(), process.status().message());
      for (const auto end = Clock::now() + std::chrono::microseconds(delay_us); Clock::now() < end;) {
      }
      signal_session(process.value(), signal);
      const int status = end_of(process.value());
      CHECK(WIFSIGNALED(status));
      CHECK(WTERMSIG(status) == signal);
    }
  }
}

TEST_CASE("a signal for a session that has just begun does not reach the server") {
  if (!test::is_native()) return;
  test::TestServer server({"--sessions", "1"});
  std::atomic<bool> done = false;
  std::atomic<int> signalled = 0;
  std::thread killer([&] {
    while (!done) {
      for (const pid_t session : test::children_of(server.process())) signalled += kill(session, SIGTERM) == 0;
    }
  });
  for (int i = 0; i < 300; ++i) {
    const auto connection = test::join_queue(server.port(), {});
    (void)connection->receive_frame();
  }
  done = true;
  killer.join();
  CHECK(signalled > 0);
  test::check_next_session(server);
}

}  // namespace
}  // namespace ferry::device
