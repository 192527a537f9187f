#include "tests/unit/device-runtime/support/next_session.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"

namespace ferry::test {

double next_session_limit() {
#if defined(__SANITIZE_ADDRESS__)
  return 5;
#else
  return server_command().size() == 1 ? 1 : 5;
#endif
}

void check_next_session(const TestServer& server) {
  TestClient client(server.port());
  CHECK(client.ask(rpc::Call{put(client, kit_file()), "say", {}}).status.is_ok());
  CHECK(client.logged() == "hello from a kernel");
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
