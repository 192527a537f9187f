// A farm whose board offers nothing but a login to a real sshd: tracker, commands and server are those of users.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/e2e/cli/ssh_daemon.h"
#include "tests/paths.h"

using namespace ferry::test;

namespace {

using std::chrono::milliseconds;

const std::string kFerry = std::string(FERRY_BINARY_DIR) + "/bin/ferry";

// A tracker whose only board is behind the daemon.
class SshFarm {
 public:
  SshFarm() {
    folder_.file("farm.toml", "[health]\nchecks = false\n[boards.pi]\naddress = \"" + board.address() + "\"\n");
    pid_ = fork();
    if (pid_ == 0) serve();
    const std::string start = "tracker at 127.0.0.1:";
    std::string log;
    for (int i = 0; i < 500 && (log.find(start) == std::string::npos || log.find(", database") == std::string::npos);
         ++i) {
      std::this_thread::sleep_for(milliseconds(20));
      log = content_of(folder_.path("log"));
    }
    const std::size_t place = log.find(start);
    REQUIRE_MESSAGE(place != std::string::npos, log);
    const std::string port = log.substr(place + start.size(), log.find(',', place) - place - start.size());
    folder_.file("devices.toml", "[lab]\nfarm = \"127.0.0.1:" + port + "\"\nkey = \"farm.admin.key\"\n");
  }
  ~SshFarm() {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }
  SshFarm(const SshFarm&) = delete;
  SshFarm& operator=(const SshFarm&) = delete;

  Outcome run(const std::vector<std::string>& words) const {
    auto environment = board.environment();
    environment["FERRY_DEVICES"] = folder_.path("devices.toml");
    environment["XDG_RUNTIME_DIR"] = folder_.path("");
    return run_ferry(words, "", environment);
  }
  // Waits until the board has joined.
  nlohmann::json device() const {
    nlohmann::json device;
    for (int i = 0; i < 200; ++i) {
      const Outcome outcome = run({"farm", "devices", "--json"});
      if (outcome.code == 0) {
        const auto devices = nlohmann::json::parse(outcome.out).at("devices");
        if (!devices.empty()) device = devices[0];
        if (!devices.empty() && device.at("connected") == true) return device;
      }
      std::this_thread::sleep_for(milliseconds(50));
    }
    FAIL("the board does not join: " << device.dump() << content_of(folder_.path("log")));
    return device;
  }

  SshDaemon board;

 private:
  [[noreturn]] void serve() const {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    for (const auto& [name, value] : board.environment()) setenv(name.c_str(), value.c_str(), 1);
    const int log = open(folder_.path("log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    execl(kFerry.c_str(), "ferry", "farm", "serve", "--listen", "127.0.0.1:0", "--database",
          folder_.path("farm.db").c_str(), "--config", folder_.path("farm.toml").c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }

  Folder folder_;
  pid_t pid_ = -1;
};

}  // namespace

TEST_CASE("a board of farm.toml with a login to it is leased, used and given back") {
  const SshFarm farm;
  const auto device = farm.device();
  CHECK(device.at("name") == "pi");
  CHECK(device.at("state") == "good");
  CHECK(device.at("transport") == "ssh");
  CHECK(device.at("is_our_version") == true);
  CHECK(farm.run({"farm", "devices"}).out.find("by ssh") != std::string::npos);

  const std::vector<std::string> run{
      "run", "-e", "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }", "--arg", "A=f32[3]:iota", "--check"};
  std::vector<std::string> by_farm = run;
  by_farm.insert(by_farm.end(), {"--remote", "farm://lab/pi"});
  const Outcome first = farm.run(by_farm);
  CHECK_MESSAGE(first.code == 0, first.err);
  CHECK(first.out.find("[0. 2. 4.]") != std::string::npos);
  CHECK(farm.board.running_servers().empty());

  std::vector<std::string> by_exec{"farm", "exec", "pi", "--", kFerry};
  by_exec.insert(by_exec.end(), run.begin(), run.end());
  const Outcome second = farm.run(by_exec);
  CHECK_MESSAGE(second.code == 0, second.err);
  CHECK(second.out.find("[0. 2. 4.]") != std::string::npos);

  const auto history = farm.run({"farm", "history", "--json"});
  CHECK(history.out.find("released") != std::string::npos);
  std::size_t locks = 0;
  for (const std::string& name : farm.board.cached()) locks += name.starts_with("lease-2-") ? 1 : 0;
  CHECK(locks == 1);
  // Beside it the file with the lease's key, and the server.
  CHECK(farm.board.cached().size() == 3);
}
