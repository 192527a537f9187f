// Commands: what they get, what they may not do, and what becomes of them.
#include "farm/hooks/command.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/support/farm/temporary_folder.h"

namespace ferry::test {
namespace {

using farm::Command;
using farm::fill_in;
using farm::run_command;
using std::chrono::milliseconds;

Command shell(const std::string& script, milliseconds timeout = std::chrono::seconds(20)) {
  return {{"/bin/sh", "-c", script}, {}, timeout};
}

TEST_CASE("a command's output is returned, standard error included") {
  const auto output = run_command(shell("echo out; echo err >&2"));
  REQUIRE(output.is_ok());
  CHECK(output.value() == "out\nerr\n");
  CHECK(run_command({{"true"}, {}}).value().empty());
}

TEST_CASE("words reach the program as they are, without a shell") {
  const auto output = run_command({{"printf", "%s|", "a b", "$HOME", "; echo x", "*", "", "'"}, {}});
  CHECK(output.value() == "a b|$HOME|; echo x|*||'|");
}

TEST_CASE("a command gets the variables that it was given, and of this process only harmless ones") {
  setenv("FERRY_TEST_SECRET", "s3cret", 1);
  const auto output = run_command({{"env"}, {{"FERRY_FARM_REASON", "two\nlines = \"x\""}, {"LANG", "C"}}});
  unsetenv("FERRY_TEST_SECRET");
  REQUIRE(output.is_ok());
  CHECK(output.value().find("FERRY_FARM_REASON=two\nlines = \"x\"\n") != std::string::npos);
  CHECK(output.value().find("LANG=C\n") != std::string::npos);
  CHECK(output.value().find("PATH=") != std::string::npos);
  CHECK(output.value().find("s3cret") == std::string::npos);
}

TEST_CASE("a command has no input, no other files of this process, and default signals") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);  // inherited, unlike ferry's own
  const auto output = run_command(shell("cat; ls /proc/self/fd | wc -l; grep SigIgn /proc/self/status; kill -PIPE $$"));
  close(ends[0]);
  close(ends[1]);
  CHECK(output.status().code() == ErrorCode::unavailable);
  // 0, 1, 2 and the folder itself.
  CHECK_MESSAGE(
      output.status().message().find("was ended by signal 13 (Broken pipe): 4\\nSigIgn:") != std::string::npos,
      output.status().message());
}

TEST_CASE("a failure names the program, the status and what was printed, made printable") {
  const auto failed = run_command(shell("printf 'no \\033[2Jpower'; exit 7"));
  CHECK(failed.status().code() == ErrorCode::unavailable);
  for (const char* part : {"/bin/sh", "7", "no \\x1b[2Jpower"})
    CHECK(failed.status().message().find(part) != std::string::npos);
  const auto missing = run_command({{"/nowhere/uhubctl"}, {}});
  CHECK(missing.status().code() == ErrorCode::not_found);
  CHECK(missing.status().message().find("/nowhere/uhubctl") != std::string::npos);
  CHECK(run_command({{"/etc/passwd"}, {}}).status().code() == ErrorCode::unavailable);
}

TEST_CASE("a command that takes too long is killed together with what it has started") {
  const TemporaryFolder folder;
  const std::string alive = folder.file("alive");
  const auto late =
      run_command(shell("echo started; (sleep 1; echo x > " + alive + ") & sleep 1000", milliseconds(300)));
  CHECK(late.status().code() == ErrorCode::deadline_exceeded);
  usleep(1'200'000);
  CHECK(access(alive.c_str(), F_OK) != 0);
}

TEST_CASE("what a command leaves running in the background is not waited for") {
  const TemporaryFolder folder;
  const std::string over = folder.file("over");
  // It waits for a file that is written once the command has ended, but not for ever.
  const std::string waiting = "for i in $(seq 600); do [ -e " + over + " ] && break; sleep 0.1; done";
  CHECK(run_command(shell("(" + waiting + ") & echo done")).value() == "done\n");
  std::ofstream(over) << "x";
}

TEST_CASE("output beyond the limit is dropped, and does not hold up the command") {
  const auto output = run_command(shell("head -c 1000000 /dev/zero | tr '\\0' x"));
  REQUIRE(output.is_ok());
  CHECK(output.value() == std::string(farm::kMaxCommandOutput, 'x'));
}

TEST_CASE("what is no command is refused") {
  for (const Command& command :
       {Command{}, Command{{""}, {}}, Command{std::vector<std::string>(farm::kMaxCommandWords + 1, "x"), {}},
        Command{{"echo", std::string("a\0b", 3)}, {}}, Command{{"echo", std::string(farm::kMaxWordBytes + 1, 'x')}, {}},
        Command{{"echo"}, {{"A=B", "x"}}}, Command{{"echo"}, {{"", "x"}}},
        Command{{"echo"}, {{"A", std::string("a\0b", 3)}}}})
    CHECK(run_command(command).status().code() == ErrorCode::invalid_argument);
}

TEST_CASE("placeholders are replaced by values, which are not looked at again") {
  const std::map<std::string, std::string> values = {{"board", "{state} $(x)"}, {"state", "bad"}};
  const auto filled = fill_in({"{board}", "-p", "{board}", "x{state}y{state}", "{", "a{b", "}"}, values);
  REQUIRE(filled.is_ok());
  CHECK(filled.value() == std::vector<std::string>{"{board}", "-p", "{state} $(x)", "xbadybad", "{", "a{b", "}"});
  const auto unknown = fill_in({"echo", "{bord}"}, values);
  CHECK(unknown.status().code() == ErrorCode::invalid_argument);
  CHECK(unknown.status().message().find("{bord}") != std::string::npos);
}

}  // namespace
}  // namespace ferry::test
