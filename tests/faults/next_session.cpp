#include "tests/faults/next_session.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"

namespace ferry::test {

void check_next_session(const TestServer& server) {
  const Bytes& file = kit_file();  // made before the clock runs
  const auto begin = std::chrono::steady_clock::now();
  TestClient client(server.port());
  CHECK(client.ask(rpc::Call{put(client, file), "say", {}}).status.is_ok());
  CHECK(client.logged() == "hello from a kernel");
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
#if defined(__SANITIZE_ADDRESS__)
  CHECK(elapsed.count() < 5.0);
#else
  CHECK(elapsed.count() < 1.0);
#endif
}

void killed_client(const std::function<void()>& client) {
  kit_file();
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    client();
    raise(SIGKILL);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
}

bool sessions_end(const TestServer& server) {
  for (int i = 0; i < 500; ++i) {
    if (children_of(server.process()).empty()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace ferry::test
