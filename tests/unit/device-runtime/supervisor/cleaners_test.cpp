// Tests when the next session begins after one that leaves files.
#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "tests/unit/device-runtime/support/next_session.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

namespace fs = std::filesystem;

// The removal is the work of the server's system; in an emulator it only takes longer.
TEST_CASE("a session begins when the files of the one before are removed, or are removed with the lowest priority") {
  if (!is_native()) return;
  char pattern[] = "/tmp/ferry-cleaners-XXXXXX";
  REQUIRE(mkdtemp(pattern) != nullptr);
  {
    TestServer server({"--workdir", pattern, "--sessions", "1"});
    for (int round = 0; round < 2; ++round) {
      const fs::path folder =
          fs::path(pattern) / ("session-" + std::to_string(server.process()) + "-" + std::to_string(2 * round + 1));
      {
        TestClient client(server.port());
        REQUIRE(fs::is_directory(folder));
        // Enough for their removal to take a moment.
        for (int i = 0; i < 6'000; ++i) std::ofstream(folder / std::to_string(i)).close();
      }
      TestClient next(server.port());
      if (!fs::exists(folder)) continue;
      for (const pid_t child : children_of(server.process())) {
        if (child == static_cast<pid_t>(next.opened().process)) continue;
        errno = 0;
        const int priority = getpriority(PRIO_PROCESS, static_cast<id_t>(child));
        // It may have finished in the meantime.
        if (errno == 0) CHECK(priority == 19);
      }
    }
    check_next_session(server);
  }
  // A process that the server left may be removing the same files.
  std::error_code code;
  do fs::remove_all(pattern, code);
  while (code == std::errc::no_such_file_or_directory);
  CHECK_MESSAGE(!code, code.message());
}

}  // namespace
}  // namespace ferry::test
