#include "host/cli/options/child_process.h"

#include <doctest/doctest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "ferry/error.h"

using namespace ferry;
using namespace ferry::cli;

TEST_CASE("a program's exit code is returned, and that of a signal is 128 more") {
  CHECK(ChildProcess({"sh", "-c", "exit 7"}).wait() == 7);
  CHECK(ChildProcess({"sh", "-c", "kill -TERM $$"}).wait() == 128 + SIGTERM);
}

TEST_CASE("a program that is not there is refused") {
  try {
    ChildProcess({"/no/such/program"});
    FAIL("expected an Error");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) == "cannot run /no/such/program: No such file or directory");
  }
}

TEST_CASE("a signal that another process sends is passed on, and does not end this one") {
  ChildProcess program({"sh", "-c", "trap 'exit 9' TERM; kill -TERM $PPID; while :; do sleep 0.01; done"});
  CHECK(program.wait() == 9);
}

TEST_CASE("a program ends with its object") {
  const auto begin = std::chrono::steady_clock::now();
  {
    ChildProcess program({"sleep", "30"});
  }
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
}

TEST_CASE("a program does not inherit that SIGPIPE is ignored") {
  signal(SIGPIPE, SIG_IGN);
  CHECK(ChildProcess({"sh", "-c", "kill -PIPE $$; exit 0"}).wait() == 128 + SIGPIPE);
  signal(SIGPIPE, SIG_DFL);
}
