// Tests of --remote ssh:// with a board that offers nothing but a login.
#include <doctest/doctest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "tests/e2e/cli/ssh_daemon.h"
#include "tests/paths.h"

using namespace ferry::test;

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kRun{
    "run", "-e", "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }", "--arg", "A=f32[3]:iota", "--check"};

Outcome run_there(const SshDaemon& board, const std::vector<std::string>& words,
                  std::map<std::string, std::string> more = {}) {
  std::vector<std::string> all = words;
  all.insert(all.end(), {"--remote", board.address()});
  auto environment = board.environment();
  for (const auto& [name, value] : more) environment[name] = value;
  return run_ferry(all, "", environment);
}

}  // namespace

TEST_CASE("ten sessions over ssh send one server and leave nothing else behind") {
  const SshDaemon board;
  for (int session = 0; session < 10; ++session) {
    const Outcome outcome = run_there(board, kRun);
    REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
    CHECK(outcome.out.find("[0. 2. 4.]") != std::string::npos);
    CHECK((outcome.err.find("put rpc_server for ") != std::string::npos) == (session == 0));
  }
  CHECK(board.running_servers().empty());
  REQUIRE(board.cached().size() == 1);
  CHECK(board.cached()[0].rfind("rpc_server-", 0) == 0);
  struct stat info{};
  REQUIRE(stat((board.cache() + "/ferry").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
}

TEST_CASE("a server of another version is replaced, and what a cut push left is removed") {
  const SshDaemon board;
  fs::create_directories(board.cache() + "/ferry");
  chmod((board.cache() + "/ferry").c_str(), 0700);
  for (const char* name : {"/ferry/rpc_server-0123456789abcdef0123456789abcdef", "/ferry/.push.999999999"}) {
    fs::copy_file("/bin/true", board.cache() + name);
  }
  CHECK(run_there(board, {"device"}).code == 0);
  REQUIRE(board.cached().size() == 1);
  CHECK(board.cached()[0] != "rpc_server-0123456789abcdef0123456789abcdef");
}

TEST_CASE("what a login prints before is passed over") {
  const SshDaemon board;
  board.on_login("echo Welcome to the board; echo ferry-sshless; printf 'no end of line '; echo");
  CHECK(run_there(board, kRun).code == 0);
  CHECK(run_there(board, kRun).code == 0);
}

TEST_CASE("a client that is killed takes its server with it") {
  const SshDaemon board;
  REQUIRE(run_there(board, {"device"}).code == 0);
  const std::string ferry = std::string(FERRY_BINARY_DIR) + "/bin/ferry";
  const pid_t client = fork();
  if (client == 0) {
    for (const auto& [name, value] : board.environment()) setenv(name.c_str(), value.c_str(), 1);
    if (freopen("/dev/null", "w", stdout) == nullptr || freopen("/dev/null", "w", stderr) == nullptr) _exit(126);
    execl(ferry.c_str(), "ferry", "ping", "--count", "10000000", "--remote", board.address().c_str(),
          static_cast<char*>(nullptr));
    _exit(127);
  }
  std::this_thread::sleep_for(std::chrono::seconds(2));
  kill(client, SIGKILL);
  CHECK(board.running_servers().empty());
}

TEST_CASE("what keeps ssh from the board is told in its own words, with advice") {
  const SshDaemon board;
  const auto expect = [](const Outcome& outcome, const std::string& part) {
    CHECK(outcome.code == 3);
    CHECK_MESSAGE(outcome.err.find(part) != std::string::npos, outcome.err);
  };
  expect(run_there(board, {"device"}, {{"FERRY_SSH", "/nowhere/ssh"}}),
         "cannot run '/nowhere/ssh': there is no such program; install OpenSSH's client");
  expect(run_ferry({"device", "--remote", "ssh://someone@127.0.0.1:1"}, "", board.environment()), "Connection refused");
  expect(
      run_ferry({"device", "--remote", "ssh://nobody_of_that_name" + board.address().substr(board.address().find('@'))},
                "", board.environment()),
      "Permission denied");
  board.forget_host_key();
  expect(run_there(board, {"device"}), "knows the machine's key");
}

TEST_CASE("a machine that no server is for is named") {
  const SshDaemon board;
  board.on_login("mkdir -p " + board.folder().path("fake") +
                 "; printf '#!/bin/sh\\n[ $1 = -m ] && echo mips || echo Linux\\n' > " +
                 board.folder().path("fake/uname") + "; chmod 700 " + board.folder().path("fake/uname") +
                 "; PATH=" + board.folder().path("fake") + ":$PATH");
  const Outcome outcome = run_there(board, {"device"});
  CHECK(outcome.code == 3);
  CHECK_MESSAGE(outcome.err.find(" is 'Linux mips'; the servers here are for Linux on x86_64") != std::string::npos,
                outcome.err);
}

TEST_CASE("a home that cannot be written to is passed over for the next folder") {
  const SshDaemon board;
  const std::string next = "/var/tmp/ferry-" + std::to_string(geteuid());
  board.on_login("CACHE=/proc/nowhere");
  const Outcome outcome = run_there(board, kRun);
  CHECK_MESSAGE(outcome.code == 0, outcome.err);
  CHECK(board.cached().empty());
  CHECK(fs::exists(next));
  fs::remove_all(next);
}

TEST_CASE("a link in the folder's place is passed over, and what it leads to keeps its mode") {
  const SshDaemon board;
  const fs::path target = board.folder().path("target");
  fs::create_directories(target);
  fs::permissions(target, fs::perms(0751));
  fs::create_directories(board.cache());
  fs::create_directory_symlink(target, fs::path(board.cache()) / "ferry");
  const Outcome outcome = run_there(board, kRun);
  CHECK_MESSAGE(outcome.code == 0, outcome.err);
  CHECK(fs::status(target).permissions() == fs::perms(0751));
  CHECK(fs::is_empty(target));
  fs::remove_all("/var/tmp/ferry-" + std::to_string(geteuid()));
}

TEST_CASE("a full disk leaves nothing behind and names the folders") {
  const SshDaemon board;
  board.on_login("ulimit -f 100");  // no file may grow beyond 50 KB
  const Outcome outcome = run_there(board, {"device"});
  CHECK(outcome.code == 3);
  CHECK_MESSAGE(outcome.err.find("there is no folder to put rpc_server into; tried " + board.cache() +
                                 "/ferry (no room), ") != std::string::npos,
                outcome.err);
  CHECK(board.cached().empty());
  for (const char* folder : {"/var/tmp", "/tmp", "/dev/shm"}) {
    const std::string path = folder + ("/ferry-" + std::to_string(geteuid()));
    std::error_code error;
    fs::remove(path, error);  // removes it only if it is empty
  }
}

TEST_CASE("a folder in which programs cannot run is passed over") {
  const SshDaemon board;
  fs::create_directories(board.cache());
  if (mount("ferry-test", board.cache().c_str(), "tmpfs", MS_NOEXEC | MS_NOSUID, "size=8m,mode=700") != 0) {
    MESSAGE("skipped: this user may not mount a file system that is noexec");
    return;
  }
  const std::string next = "/var/tmp/ferry-" + std::to_string(geteuid());
  const Outcome outcome = run_there(board, kRun);
  const auto left = board.cached();
  umount(board.cache().c_str());
  CHECK_MESSAGE(outcome.code == 0, outcome.err);
  CHECK(outcome.err.find("into " + next) != std::string::npos);
  CHECK(left.empty());
  fs::remove_all(next);
}

TEST_CASE("a folder on a file system that is read-only is passed over") {
  const SshDaemon board;
  const std::string folder = board.cache() + "/ferry";
  fs::create_directories(folder);
  if (mount("ferry-test", folder.c_str(), "tmpfs", MS_RDONLY | MS_NOSUID, "size=1m,mode=700") != 0) {
    MESSAGE("skipped: this user may not mount a file system that is read-only");
    return;
  }
  const std::string next = "/var/tmp/ferry-" + std::to_string(geteuid());
  const Outcome outcome = run_there(board, kRun);
  umount(folder.c_str());
  CHECK_MESSAGE(outcome.code == 0, outcome.err);
  CHECK(outcome.err.find("into " + next) != std::string::npos);
  fs::remove_all(next);
}
