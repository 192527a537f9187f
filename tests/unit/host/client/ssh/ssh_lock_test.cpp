// Tests that leases of a board which is reached by ssh exclude each other by its lock files. The scripts run as on a
// board; the server is a script as well.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

#include "base/throw_status.h"
#include "ferry/hash.h"
#include "host/client/connect/ssh_process.h"
#include "host/client/connect/ssh_script.h"
#include "tests/support/fake_ssh.h"

using namespace ferry;
using namespace ferry::session;
using namespace ferry::test;

namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

// Prints its arguments and process, and starts a process that would outlive it. Neither ends when it is asked to.
constexpr const char* kServer =
    "#!/bin/sh\ntrap '' TERM HUP\nsleep 1000 </dev/null >/dev/null 2>&1 &\necho \"server $$ $! $*\"\n"
    "while read -r line; do :; done\nkill $!\n";

// The hash of kServer.
const std::string kSha256 = [] {
  const std::unique_ptr<FILE, int (*)(FILE*)> said(
      popen(("printf %s \"$(cat <<'END'\n" + std::string(kServer) + "END\n)\n\" | sha256sum").c_str(), "r"), pclose);
  char digits[65] = {};
  return said != nullptr && fread(digits, 1, 64, said.get()) == 64 ? std::string(digits) : std::string();
}();

struct Board : FakeSsh {
  Board() { put(kServer); }

  static std::vector<BoardServer> servers() {
    std::vector<BoardServer> servers;
    const std::string_view text = kServer;
    const Hash hash = blake2b({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    for (const char* arch : {"x86_64", "aarch64", "armv7", "riscv64"})
      servers.push_back({arch, to_hex(hash), kSha256, text.size()});
    return servers;
  }
  // Puts a file in the server's place.
  void put(const std::string& text) const {
    write("cache/ferry/rpc_server-" + servers()[0].hash.substr(0, 32), text, 0700);
  }
  // Leaves the board's logins these programs alone.
  void has_programs(const std::vector<std::string>& names) const {
    fs::create_directories(home() + "/bin");
    for (const std::string& name : names)
      fs::create_symlink((fs::exists("/usr/bin/" + name) ? "/usr/bin/" : "/bin/") + name, home() + "/bin/" + name);
    on_login("PATH='" + home() + "/bin'");
  }
  std::string first_answer(SshEpoch epoch = 0, bool is_pushed = false) const {
    SshProcess ssh({"", "board", 0}, "board", start_script(servers(), epoch, is_pushed));
    const std::string answer = ssh.answer(kSshMarker);
    return answer.substr(0, answer.find(' '));
  }
  std::unique_ptr<SshProcess> log_in(SshEpoch epoch) const {
    const std::string key = "a1b2" + std::to_string(epoch);
    return std::make_unique<SshProcess>(SshAddress{"", "board", 0}, "board", start_script(servers(), epoch, false, key),
                                        SshOptions{true, std::chrono::seconds(30)});
  }
};

// A session that has begun.
struct Session {
  std::unique_ptr<SshProcess> ssh;
  pid_t server = 0, child = 0;
  std::string arguments;

  Session(std::unique_ptr<SshProcess> process, int seconds) : ssh(std::move(process)) {
    REQUIRE(ssh->write(std::to_string(seconds) + "\n"));
    REQUIRE(ssh->answer(kSshMarker) == "ready");
    const std::string said = ssh->answer("server ");
    std::size_t end = 0;
    server = std::stoi(said, &end);
    const std::string rest = said.substr(end + 1);
    child = std::stoi(rest, &end);
    arguments = rest.substr(end + 1);
  }
};

Session session_of(const Board& board, SshEpoch epoch) {
  auto ssh = board.log_in(epoch);
  const std::string answer = ssh->answer(kSshMarker);
  REQUIRE_MESSAGE(answer == "locked", "epoch " << epoch << ": " << answer);
  return {std::move(ssh), 60};
}

// What is left of a process that has ended but was not waited for counts as nothing.
bool runs(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.substr(name_end + 2, 1) != "Z";
}

bool ends(pid_t process) {
  for (int i = 0; i < 300 && runs(process); ++i) std::this_thread::sleep_for(milliseconds(10));
  return !runs(process);
}

}  // namespace

TEST_CASE("the scripts pass through every login shell unchanged") {
  for (const std::string& script : {start_script(Board::servers()), start_script(Board::servers(), 17)}) {
    REQUIRE(script.starts_with("exec /bin/sh -c '"));
    REQUIRE(script.ends_with("'"));
    const std::string inside = script.substr(17, script.size() - 18);
    CHECK(inside.find_first_of("'!\\\n") == std::string::npos);
  }
}

TEST_CASE("without a lease nothing is locked") {
  const Board board;
  SshProcess ssh({"", "board", 0}, "board", start_script(Board::servers()));
  CHECK(ssh.answer(kSshMarker) == "ready");
  CHECK(ssh.answer("server ").ends_with(" --stdio --quiet"));
  CHECK(board.locks().empty());
}

TEST_CASE("a server that was changed on the board is not started, by b2sum or sha256sum, or unless it was just put") {
  const std::vector<std::string> programs = {"sh", "setsid", "uname", "id", "ls", "wc", "sleep", "mkdir", "rm"};
  std::string changed = kServer;
  changed[changed.size() - 2] = '0';
  REQUIRE(changed.size() == std::string_view(kServer).size());
  for (const char* sums : {"", "b2sum", "sha256sum", "none"}) {
    CAPTURE(sums);
    const Board board;
    std::vector<std::string> names = programs;
    const bool can_tell = sums != std::string_view("none");
    if (*sums != 0 && can_tell) names.emplace_back(sums);
    if (*sums != 0) board.has_programs(names);
    for (const SshEpoch epoch : {0, 5}) {
      CAPTURE(epoch);
      board.put(kServer);
      CHECK(board.first_answer(epoch) == (!can_tell ? "absent" : epoch == 0 ? "ready" : "locked"));
      CHECK(board.first_answer(epoch, true) == (epoch == 0 ? "ready" : "locked"));
      board.put(changed);
      CHECK(board.first_answer(epoch) == (can_tell ? "changed" : "absent"));
      if (can_tell) CHECK(board.first_answer(epoch, true) == "changed");
      board.put(changed + "\n");
      CHECK(board.first_answer(epoch) == "changed");
      CHECK(board.first_answer(epoch, true) == "changed");
    }
  }
}

TEST_CASE("a session is told when it ends, and its lock names its epoch and its process") {
  const Board board;
  auto ssh = board.log_in(7);
  REQUIRE(ssh->answer(kSshMarker) == "locked");
  const Session session(std::move(ssh), 31);
  CHECK(session.arguments == "--stdio --quiet --session-deadline 31");
  REQUIRE(board.locks().size() == 1);
  CHECK(board.locks()[0].starts_with("lease-7-" + std::to_string(session.server) + "-"));
}

TEST_CASE("a client that says no time gets no session") {
  const Board board;
  for (const char* line : {"0\n", "-5\n", "x; echo ferry-ssh ready\n", "\n"}) {
    auto ssh = board.log_in(7);
    REQUIRE(ssh->answer(kSshMarker) == "locked");
    REQUIRE(ssh->write(line));
    CHECK_THROWS_AS(ssh->answer(kSshMarker), Error);
  }
}

TEST_CASE("the next lease ends the process group of a session that is cut off") {
  const Board board;
  const Session cut_off = session_of(board, 1);
  REQUIRE(runs(cut_off.server));
  REQUIRE(runs(cut_off.child));
  const Session next = session_of(board, 2);
  CHECK(ends(cut_off.server));
  CHECK(ends(cut_off.child));
  CHECK(runs(next.server));
  REQUIRE(board.locks().size() == 1);
  CHECK(board.locks()[0].starts_with("lease-2-"));
}

TEST_CASE("other shells understand the scripts as well") {
  for (const std::string shell : {"/bin/bash", "/bin/dash", "/bin/ksh", "/bin/busybox sh"}) {
    CAPTURE(shell);
    if (!fs::exists(shell.substr(0, shell.find(' ')))) continue;
    const Board board;
    board.on_login("set -- \"$1\" \"$(printf %s \"$2\" | sed 's,/bin/sh," + shell + ",')\"");
    const Session cut_off = session_of(board, 1);
    const Session next = session_of(board, 2);
    CHECK(ends(cut_off.server));
    CHECK(ends(cut_off.child));
    CHECK(board.log_in(1)->answer(kSshMarker) == "later 2");
    CHECK(board.locks().size() == 1);
  }
}

TEST_CASE("an earlier lease is refused while a later one runs, and after that") {
  const Board board;
  {
    const Session later = session_of(board, 12);
    CHECK(board.log_in(9)->answer(kSshMarker) == "later 12");
    CHECK(runs(later.server));
  }
  CHECK(board.log_in(11)->answer(kSshMarker) == "later 12");
  const Session same = session_of(board, 12);
  CHECK(board.locks().size() == 1);
}

TEST_CASE("sessions of one lease follow each other, also if they begin at once") {
  const Board board;
  auto first = std::make_unique<Session>(session_of(board, 3));
  auto waiting = board.log_in(3);
  std::thread ending([&] {
    std::this_thread::sleep_for(milliseconds(300));
    first.reset();
  });
  CHECK(waiting->answer(kSshMarker) == "locked");
  ending.join();
  waiting.reset();

  std::vector<std::unique_ptr<SshProcess>> all;
  for (int i = 0; i < 3; ++i) all.push_back(board.log_in(3));
  std::vector<std::thread> threads;
  std::atomic<int> inside{0}, most{0}, done{0};
  for (auto& ssh : all) {
    threads.emplace_back([&] {
      if (ssh->answer(kSshMarker) != "locked") return;
      most = std::max(most.load(), ++inside);
      std::this_thread::sleep_for(milliseconds(200));
      --inside;
      ++done;
      ssh.reset();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(done == 3);
  CHECK(most == 1);
}

TEST_CASE("a session of the same lease that does not end is named") {
  const Board board;
  const Session first = session_of(board, 3);
  CHECK(board.log_in(3)->answer(kSshMarker) == "busy " + std::to_string(first.server));
  CHECK(runs(first.server));
  CHECK(board.locks().size() == 1);
}

// The field of /proc/PROCESS/stat that says when it started.
std::string start_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text, start;
  std::getline(file, text);
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  for (int field = 0; field < 20; ++field) fields >> start;
  return start;
}

TEST_CASE("a lock of the next epoch that a live process of the board's user has forged blocks no lease") {
  const pid_t process = fork();
  if (process == 0) {
    sleep(60);
    _exit(0);
  }
  const Board board;
  const std::string lock = "5-" + std::to_string(process) + "-" + start_of(process);
  board.write("cache/ferry/lease-" + lock, "", 0600);
  // Of earlier leases, and of one that has never been.
  board.write("cache/ferry/key-4-1-1-a1b24", "", 0600);
  board.write("cache/ferry/key-" + lock + "-a1b24", "", 0600);
  {
    const Session session = session_of(board, 5);
    CHECK(runs(process));
    CHECK(board.locks().size() == 1);
    // A second session of the lease still waits for the first one.
    CHECK(board.log_in(5)->answer(kSshMarker) == "busy " + std::to_string(session.server));
  }
  CHECK(session_of(board, 6).server != 0);
  std::size_t keys = 0;
  for (const auto& entry : fs::directory_iterator(board.cache()))
    keys += entry.path().filename().string().starts_with("key-");
  CHECK(keys == 1);
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
}

TEST_CASE("the lock of a process that is gone, or whose number another process has, blocks nobody") {
  const Board board;
  board.write("cache/ferry/lease-4-4194999-123", "", 0600);
  board.write("cache/ferry/lease-5-" + std::to_string(getpid()) + "-1", "", 0600);
  const Session session = session_of(board, 5);
  CHECK(board.locks().size() == 1);
}

TEST_CASE("the lock of a process of another user blocks nobody, and the process goes on") {
  const bool is_root = getuid() == 0;
  const pid_t other = is_root ? fork() : 1;
  if (other == 0) {
    if (setuid(65534) == 0) sleep(60);
    _exit(0);
  }
  for (int i = 0; i < 100; ++i) {
    struct stat folder{};
    if (!is_root || (stat(("/proc/" + std::to_string(other)).c_str(), &folder) == 0 && folder.st_uid != 0)) break;
    std::this_thread::sleep_for(milliseconds(10));
  }
  const Board board;
  board.write("cache/ferry/lease-1-" + std::to_string(other) + "-" + start_of(other), "", 0600);
  {
    const Session session = session_of(board, 2);
    CHECK(board.locks().size() == 1);
    CHECK(runs(other));
  }
  if (!is_root) return;
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
}

TEST_CASE("nothing that lock files are called does harm") {
  const Board board;
  for (const char* name : {"lease-",
                           "lease-x",
                           "lease-99999999999999999999-1-1",
                           "lease-1-$(touch pwned)-1",
                           "lease-1-`touch pwned`-1",
                           "lease-1-1-1",
                           "lease-1-0-0",
                           "lease-1--1-5",
                           "lease-1-;touch pwned;-3",
                           "lease- 1-2-3",
                           "lease-1-2\n3-4",
                           "lease-+1-+2-+3",
                           "lease-1-self-1",
                           "lease-1-*-*",
                           "lease--5-1-1",
                           "lease-1",
                           "lease-9",
                           "lease-9-1",
                           "lease-+9-1-1",
                           "lease- 9-1-1",
                           "lease-9-x-1",
                           "lease-9-1-x",
                           "lease-9-1-1-1",
                           "lease-9-1-\n"}) {
    board.write(std::string("cache/ferry/") + name, "1 1 1", 0600);
  }
  fs::create_directory(board.cache() + "/lease-1-2-folder");
  fs::create_directory(board.cache() + "/lease-9-1-1");
  fs::create_symlink("/etc/passwd", board.cache() + "/lease-1-3-4");
  const Session session = session_of(board, 2);
  std::vector<std::string> left = board.locks();
  std::erase(left, "lease-1-2-folder");
  std::erase(left, "lease-9-1-1");
  REQUIRE_MESSAGE(left.size() == 1, left[0]);
  CHECK(left[0].starts_with("lease-2-" + std::to_string(session.server)));
  CHECK(fs::exists("/etc/passwd"));
  CHECK_FALSE(fs::exists(board.home() + "/pwned"));
  CHECK_FALSE(fs::exists("pwned"));
}

TEST_CASE("a login that prints without end, or nothing, is given up") {
  const Board board;
  board.on_login("yes");
  try {
    board.log_in(1)->answer(kSshMarker);
    FAIL("expected an Error");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("expected at most 1048576 bytes that its login prints") != std::string::npos);
  }
  board.on_login("sleep 1000");
  SshProcess silent({"", "board", 0}, "board", start_script(Board::servers(), 1), SshOptions{true, milliseconds(200)});
  try {
    silent.answer(kSshMarker);
    FAIL("expected an Error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::deadline_exceeded);
    CHECK(std::string(error.what()) == "board has not answered within 200 ms");
  }
}
