#include "host/cli/options/child_process.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
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

TEST_CASE("a signal that this process gets reaches the program") {
  ChildProcess program({"sh", "-c", "trap 'exit 9' HUP; while :; do sleep 0.01; done"});
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  kill(getpid(), SIGHUP);
  CHECK(program.wait() == 9);
}

namespace {

// Whether a process runs that has this word as an argument of its own: a shell with the word in its script is none,
// since it may not yet have run what stands before it.
bool runs(const std::string& word) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    for (std::string argument; std::getline(file, argument, '\0');)
      if (argument == word) return true;
  }
  return false;
}

bool becomes(bool wanted, const std::string& word) {
  for (int tries = 0; tries < 400 && runs(word) != wanted; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  return runs(word) == wanted;
}

}  // namespace

TEST_CASE("a program and what it has started end when the process that runs it is killed") {
  for (const char* script : {"sleep 331.7 & exec sleep 331.7", "sleep 331.7 & sleep 331.7; sleep 331.7",
                             "(sleep 331.7 &) & setsid sleep 331.7"}) {
    CAPTURE(script);
    const pid_t runner = fork();
    if (runner == 0) {
      ChildProcess program({"sh", "-c", script});
      program.wait();
      _exit(0);
    }
    CHECK(becomes(true, "331.7"));
    kill(runner, SIGKILL);
    waitpid(runner, nullptr, 0);
    CHECK(becomes(false, "331.7"));
  }
}

TEST_CASE("a program that does not end is killed with what it has started") {
  {
    ChildProcess program({"sh", "-c", "trap '' TERM; sleep 332.7 & sleep 332.7"});
    CHECK(becomes(true, "332.7"));
    program.send(SIGTERM);
    program.send(SIGKILL);
    CHECK(program.wait() == 128 + SIGKILL);
  }
  CHECK(becomes(false, "332.7"));
}

TEST_CASE("a program ends with its object") {
  {
    ChildProcess program({"sleep", "333.7"});
    CHECK(becomes(true, "333.7"));
  }
  CHECK(becomes(false, "333.7"));
}

TEST_CASE("a program does not inherit that SIGPIPE is ignored") {
  signal(SIGPIPE, SIG_IGN);
  CHECK(ChildProcess({"sh", "-c", "kill -PIPE $$; exit 0"}).wait() == 128 + SIGPIPE);
  signal(SIGPIPE, SIG_DFL);
}
