// Tests a whole farm on this machine: 'ferry farm serve', boards that enrol, and commands that use them.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "tests/e2e/cli/run_ferry.h"
#include "tests/paths.h"

using namespace ferry;
using namespace ferry::test;
using Words = std::vector<std::string>;
using Json = nlohmann::json;

namespace {

const std::string kFerry = FERRY_BINARY_DIR "/bin/ferry";
const std::string kServer = std::string(FERRY_SOURCE_DIR) + "/build/device/x86_64/dynamic/rpc_server";

bool wait_until(const std::function<bool()>& condition) {
  for (int i = 0; i < 300 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return condition();
}

// A program whose output goes to a file, for the lifetime of this object.
class Program {
 public:
  Program(Words words, std::string log, const std::map<std::string, std::string>& environment = {})
      : log_(std::move(log)) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    process_ = fork();
    if (process_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    const int file = open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (dup2(file, STDOUT_FILENO) < 0 || dup2(file, STDERR_FILENO) < 0) _exit(125);
    execv(arguments[0], arguments.data());
    _exit(126);
  }
  ~Program() { end(SIGTERM); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void end(int signal) {
    if (process_ <= 0) return;
    kill(process_, signal);
    waitpid(process_, nullptr, 0);
    process_ = -1;
  }
  std::string log() const { return content_of(log_); }

 private:
  std::string log_;
  pid_t process_;
};

// A tracker and boards that have joined it.
class WholeFarm {
 public:
  enum class Machine : std::uint8_t { shared, exclusive };

  // All boards are on this machine, of which they are leased together only if they share it.
  explicit WholeFarm(const Words& boards, Machine machine = Machine::shared) : machine_(machine) {
    // Health checks would take boards at moments of their own.
    const std::string config = folder.file("farm.toml", "[health]\nchecks = false\n");
    tracker_ = std::make_unique<Program>(Words{kFerry, "farm", "serve", "--listen", "127.0.0.1:0", "--database",
                                               folder.path("farm.db"), "--config", config},
                                         folder.path("tracker.log"));
    const std::string said = "tracker at 127.0.0.1:";
    REQUIRE_MESSAGE(wait_until([&] { return contains(tracker_->log(), "the first admin's key is in"); }),
                    tracker_->log());
    const std::string log = tracker_->log();
    const std::size_t port = log.find(said) + said.size();
    address = "127.0.0.1:" + log.substr(port, log.find(',', port) - port);
    folder.file("devices.toml", "[lab]\nfarm = \"" + address + "\"\nkey = \"farm.admin.key\"\n");
    for (const std::string& board : boards) add(board);
    REQUIRE_MESSAGE(wait_until([&] { return free_boards() == boards.size(); }), tracker_->log());
  }

  std::map<std::string, std::string> environment() const {
    return {{"FERRY_DEVICES", folder.path("devices.toml")}, {"XDG_RUNTIME_DIR", folder.path("")}};
  }
  Outcome run(const Words& words) const { return run_ferry(words, "", environment()); }
  Json listing(Words words) const {
    words.insert(words.begin(), "farm");
    words.emplace_back("--json");
    const Outcome outcome = run(words);
    REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
    return Json::parse(outcome.out);
  }
  std::size_t free_boards() const {
    std::size_t count = 0;
    const Json devices = listing({"devices"});
    for (const Json& device : devices["devices"])
      if (device["connected"] == true && device["holder"].is_null() && device["state"] != "suspect") ++count;
    return count;
  }
  std::string log() const { return tracker_->log(); }

  Folder folder;
  std::string address;

 private:
  void add(const std::string& board) {
    const std::string key = folder.path(board + ".key"), work = folder.path(board);
    Words enrol{"farm", "enrol", board, "--tag", "bench", "-o", key};
    if (machine_ == Machine::shared) enrol.emplace_back("--share-machine");
    const Outcome enrolled = run(enrol);
    REQUIRE_MESSAGE(enrolled.code == 0, enrolled.err);
    std::filesystem::create_directory(work);
    std::filesystem::permissions(work, std::filesystem::perms::owner_all);
    boards_.push_back(std::make_unique<Program>(
        Words{kServer, "--port", "0", "--farm", address, "--farm-key", key, "--workdir", work}, work + ".log"));
  }

  Machine machine_;
  std::unique_ptr<Program> tracker_;
  std::vector<std::unique_ptr<Program>> boards_;
};

}  // namespace

TEST_CASE("a farm lends its boards to commands, one at a time and several at once") {
  const WholeFarm farm({"pi-1", "pi-2"});
  const Outcome ran = farm.run({"run", "-e", kTwice, "--size", "N=3", "--remote", "farm://lab/pi-2"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  CHECK(contains(ran.out, "on pi-2 (farm://lab/pi-2)"));

  const Outcome both = farm.run({"bench", "-e", kTwice, "--size", "N=9", "--no-peak", "--repeat", "3", "--json",
                                 "--remote", "farm://lab/tag:bench", "--remote", "farm://lab/tag:bench"});
  REQUIRE_MESSAGE(both.code == 0, both.err);
  const Json results = Json::parse(both.out)["results"];
  REQUIRE(results.size() == 2);
  CHECK(results[0]["device"] != results[1]["device"]);

  const Outcome none = farm.run({"device", "--remote", "farm://lab/arch=riscv64"});
  CHECK(none.code == 2);
  CHECK(contains(none.err, "unservable"));

  const std::string script = kFerry + " device && " + kFerry + " farm leases; exit 6";
  const Outcome program = farm.run({"farm", "exec", "pi-1", "--", "sh", "-c", script});
  CHECK_MESSAGE(program.code == 6, program.err);
  CHECK(contains(program.out, "device     pi-1 (lease:"));
  CHECK(contains(program.out, "attached"));

  const Json history = farm.listing({"history", "--holder", "admin"})["leases"];
  REQUIRE(history.size() >= 3);
  CHECK(history[0]["boards"] == Json::array({"pi-1"}));
  CHECK(history[0]["reason"] == "released");
  CHECK(wait_until([&] { return farm.free_boards() == 2; }));
}

TEST_CASE("the gate measures on boards of a farm, several of which share its cases, and gives them back") {
  const WholeFarm farm({"pi-1", "pi-2"});
  const std::string suite = farm.folder.file("suite.toml",
                                             "[cases.twice]\nkernel = \"twice.tc\"\nsizes = \"N=64\"\n"
                                             "[cases.thrice]\nkernel = \"thrice.tc\"\nsizes = \"N=64\"\n");
  farm.folder.file("twice.tc", kTwice);
  farm.folder.file("thrice.tc", "def thrice(float(N) A) -> (B) { B(i) = 3 * A(i) }");
  const Words words{"gate",   suite,     "--remote", "farm://lab/bench", "--remote", "farm://lab/bench",
                    "--json", "--label", "1f3a"};
  for (const char* verdict : {"first", "unchanged"}) {
    const Outcome outcome = farm.run(words);
    REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
    const Json report = Json::parse(outcome.out);
    for (const Json& one : report.at("cases")) {
      CHECK(one.at("verdict") == verdict);
      CHECK(contains(one.at("environment").at("board"), "lab/pi-"));
    }
  }
  CHECK(wait_until([&] { return farm.free_boards() == 2; }));

  // The farm has kept everything: nothing lies beside the suite, and other clients find it there.
  CHECK(!std::filesystem::exists(farm.folder.path(".ferry-gate")));
  farm.folder.file("twice.tc", "def twice(float(N) A) -> (B) { B(i) = A(i) + A(i) }");
  const Outcome changed = farm.run({"gate", suite, "--remote", "farm://lab/pi-1", "--case", "twice", "--label", "2b4c",
                                    "--accept", "twice", "--json"});
  REQUIRE_MESSAGE(changed.code == 0, changed.err);
  CHECK(Json::parse(changed.out).at("cases").at(0).at("verdict") != "first");
  for (const Words& where : {Words{"--store", "farm://lab"}, Words{"--remote", "farm://lab/bench"}}) {
    Words asked{"gate", "history", "twice", "--suite", suite, "--json"};
    asked.insert(asked.end(), where.begin(), where.end());
    const Outcome history = farm.run(asked);
    REQUIRE_MESSAGE(history.code == 0, history.err);
    std::vector<std::string> labels;
    const Json found = Json::parse(history.out);
    for (const Json& series : found.at("series")) {
      CHECK(series.at("board").get<std::string>().starts_with("lab/pi-"));
      for (const Json& entry : series.at("entries")) labels.push_back(entry.at("label"));
    }
    std::sort(labels.begin(), labels.end());
    const std::vector<std::string> expected{"1f3a", "1f3a", "2b4c"};
    CHECK_MESSAGE(labels == expected, history.out);
  }
  const Outcome backup =
      farm.run({"farm", "backup", farm.folder.path("copy.db"), "--database", farm.folder.path("farm.db")});
  CHECK_MESSAGE(backup.code == 0, backup.err);
  CHECK(std::filesystem::file_size(farm.folder.path("copy.modules.db")) > 10'000);
}

TEST_CASE("a command that is interrupted or killed gives its board back within two seconds") {
  const WholeFarm farm({"pi-1"});
  for (const int signal : {SIGINT, SIGKILL}) {
    CAPTURE(signal);
    Program holder({kFerry, "farm", "exec", "pi-1", "--", "sleep", "5"}, farm.folder.path("holder.log"),
                   farm.environment());
    REQUIRE(wait_until([&] { return farm.free_boards() == 0; }));
    holder.end(signal);
    const auto begin = std::chrono::steady_clock::now();
    CHECK_MESSAGE(wait_until([&] { return farm.free_boards() == 1; }), farm.log());
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(4));
  }
}

TEST_CASE("exec keeps a board that nobody waits for beyond its length, while its program runs") {
  const WholeFarm farm({"pi-1"});
  const Outcome alone = farm.run({"farm", "exec", "pi-1", "--length", "2s", "--", "sleep", "6"});
  CHECK_MESSAGE(alone.code == 0, alone.err);
  CHECK(alone.seconds >= 6);
}

TEST_CASE("the program of an exec that is killed ends, with what it has started") {
  const WholeFarm farm({"pi-1"});
  const std::string script = "sleep 641.7 & sleep 641.7";
  Program holder({kFerry, "farm", "exec", "pi-1", "--", "sh", "-c", script}, farm.folder.path("holder.log"),
                 farm.environment());
  const auto runs = [] {
    for (const auto& entry : std::filesystem::directory_iterator("/proc"))
      if (content_of(entry.path() / "cmdline") == std::string("sleep\0"
                                                              "641.7\0",
                                                              12))
        return true;
    return false;
  };
  REQUIRE(wait_until(runs));
  holder.end(SIGKILL);
  CHECK(wait_until([&] { return !runs() && farm.free_boards() == 1; }));
}

TEST_CASE("a lease that an admin ends is named as the reason, and who waits gets the board") {
  const WholeFarm farm({"pi-1"});
  const Outcome reserved = farm.run({"farm", "reserve", "pi-1", "--length", "1h", "--json"});
  REQUIRE_MESSAGE(reserved.code == 0, reserved.err);
  const Json lease = Json::parse(reserved.out);
  const std::string remote = "lease:" + lease["file"].get<std::string>();
  CHECK(farm.run({"device", "--remote", remote}).code == 0);
  const Outcome waited = farm.run({"device", "--remote", "farm://lab/pi-1?wait=1s"});
  CHECK(waited.code == 3);
  CHECK(contains(waited.err, "wait_expired"));

  Program waiting({kFerry, "device", "--remote", "farm://lab/pi-1"}, farm.folder.path("waiting.log"),
                  farm.environment());
  REQUIRE(wait_until([&] { return farm.listing({"queue"})["requests"].size() == 1; }));
  const Outcome released = farm.run({"farm", "release", lease["lease"].get<std::string>()});
  CHECK_MESSAGE(released.code == 0, released.err);
  CHECK_MESSAGE(wait_until([&] { return contains(waiting.log(), "device     pi-1 (farm://lab/pi-1)"); }),
                waiting.log());
  CHECK(farm.run({"device", "--remote", remote}).code == 2);  // its file is gone

  Program program({kFerry, "farm", "exec", "pi-1", "--", "sleep", "30"}, farm.folder.path("program.log"),
                  farm.environment());
  REQUIRE(wait_until([&] { return farm.free_boards() == 0 && farm.listing({"leases"})["leases"].size() == 1; }));
  REQUIRE(wait_until([&] { return !farm.listing({"leases"})["leases"].empty(); }));
  const std::string id = farm.listing({"leases"})["leases"][0]["lease"];
  CHECK(farm.run({"farm", "release", id}).code == 0);
  CHECK_MESSAGE(wait_until([&] { return contains(program.log(), "the lease of pi-1 has ended: "); }), program.log());
}

TEST_CASE("boards on one machine exclude each other, and listings say so") {
  const WholeFarm farm({"pi-1", "pi-2"}, WholeFarm::Machine::exclusive);
  const Outcome both = farm.run({"farm", "exec", "pi-1", "pi-2", "--", "true"});
  CHECK(both.code == 2);
  CHECK_MESSAGE(contains(both.err, "are on one machine, whose boards are leased one at a time"), both.err);

  const Outcome reserved = farm.run({"farm", "reserve", "pi-1", "--length", "1h", "--json"});
  REQUIRE_MESSAGE(reserved.code == 0, reserved.err);
  Program waiting({kFerry, "device", "--remote", "farm://lab/pi-2"}, farm.folder.path("waiting.log"),
                  farm.environment());
  REQUIRE(wait_until([&] { return farm.listing({"queue"})["requests"].size() == 1; }));
  CHECK(farm.listing({"queue"})["requests"][0]["blocked_by"] == "pi-1");
  const Json device = farm.listing({"devices", "pi-2"})["devices"][0];
  CHECK(device["holder"].is_null());
  CHECK(device["same_machine"] == Json::array({"pi-1"}));
  CHECK(device["blocked_by"] == "pi-1");
  CHECK(waiting.log().find("device     pi-2") == std::string::npos);

  CHECK(farm.run({"farm", "release", Json::parse(reserved.out)["lease"].get<std::string>()}).code == 0);
  CHECK_MESSAGE(wait_until([&] { return contains(waiting.log(), "device     pi-2 (farm://lab/pi-2)"); }),
                waiting.log());
}
