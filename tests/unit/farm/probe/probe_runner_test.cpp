// Tests that boards are asked by ssh how they are, with a login on this machine.
#include "farm/probe/probe_runner.h"

#include <doctest/doctest.h>

#include <fstream>
#include <optional>

#include "farm/board/board_state.h"
#include "tests/support/fake_ssh.h"

using namespace ferry;
using namespace ferry::farm;
using namespace ferry::test;
using std::chrono::milliseconds;

namespace {

constexpr BoardId kBoard{7};

// The reports that have arrived.
struct Reports {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::pair<std::string, Result<BoardReport>>> all;

  ProbeRunner::OnReport receiver() {
    return [this](BoardId, const std::string& address, Result<BoardReport> report) {
      const std::lock_guard lock(mutex);
      all.emplace_back(address, std::move(report));
      changed.notify_all();
    };
  }
  // The report with this index, counted from 0.
  Result<BoardReport> wait(std::size_t index) {
    std::unique_lock lock(mutex);
    if (!changed.wait_for(lock, std::chrono::seconds(20), [&] { return all.size() > index; }))
      return Status(ErrorCode::deadline_exceeded, "there is no report");
    return all[index].second;
  }
};

ProbeOptions often() { return {milliseconds(100), std::chrono::seconds(10), 2}; }

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

TEST_CASE("a board is asked again and again, and says what its own server would say") {
  const FakeSsh board;
  std::filesystem::create_directories(board.cache());
  std::filesystem::permissions(board.cache(), std::filesystem::perms(0700));
  board.write("cache/ferry/lease-41-12-13", "", 0600);
  Reports reports;
  ProbeRunner runner(often(), reports.receiver());
  runner.watch(kBoard, "ssh://pi@board");
  const auto report = reports.wait(0);
  REQUIRE_MESSAGE(report.is_ok(), report.status().message());
  CHECK(report.value().boot_id == device::read_boot_id());
  const auto now = device::boot_now().time_since_epoch();
  CHECK(std::abs(static_cast<std::int64_t>(report.value().heartbeat.boot_ms) - now.count()) < 30'000);
  CHECK(report.value().description.cores == std::thread::hardware_concurrency());
  CHECK(report.value().description.memory_bytes > 1'000'000);
  REQUIRE(report.value().locks.size() == 1);
  CHECK(report.value().locks[0].epoch == 41);
  const double load = std::stod(first_line("/proc/loadavg"));
  CHECK(report.value().heartbeat.load_permille == doctest::Approx(load * 1000).epsilon(0.5));
  CHECK(reports.wait(2).is_ok());
  runner.forget(kBoard);
}

TEST_CASE("lock files of later leases than the tracker knows are named, and removed by their names") {
  const FakeSsh board;
  std::filesystem::create_directories(board.cache());
  std::filesystem::permissions(board.cache(), std::filesystem::perms(0700));
  for (const char* name : {"lease-41-12-13", "lease-40-1-1", "lease-999999999999999999-1-1", "lease-+77-1-1",
                           "lease-99-1-1;touch pwned", "lease-98-x-1", "lease-97"})
    board.write(std::string("cache/ferry/") + name, "", 0600);
  std::filesystem::create_directory(board.cache() + "/lease-96-1-1");
  for (int i = 0; i < 300; ++i) board.write("cache/ferry/lease-1-" + std::to_string(i + 1) + "-1", "", 0600);
  Reports reports;
  ProbeRunner runner({std::chrono::seconds(30), std::chrono::seconds(10), 1}, reports.receiver());
  runner.watch(kBoard, "ssh://pi@board");
  // Until it is told what the tracker knows, it names as many as a report may have.
  const auto all = reports.wait(0);
  REQUIRE_MESSAGE(all.is_ok(), all.status().message());
  CHECK(all.value().locks.size() == 32);
  runner.hurry(kBoard, {40, {}});
  const auto later = reports.wait(1);
  REQUIRE_MESSAGE(later.is_ok(), later.status().message());
  REQUIRE(later.value().locks.size() == 2);
  CHECK(later.value().locks[0].name == "41-12-13");
  CHECK(later.value().locks[1].name == "999999999999999999-1-1");
  runner.hurry(kBoard, {41, {"999999999999999999-1-1", "1-1-1; touch pwned", "*-*-*"}});
  const auto removed = reports.wait(2);
  REQUIRE_MESSAGE(removed.is_ok(), removed.status().message());
  CHECK(removed.value().locks.empty());
  CHECK(std::filesystem::exists(board.cache() + "/lease-41-12-13"));
  CHECK_FALSE(std::filesystem::exists(board.home() + "/pwned"));
  CHECK_FALSE(std::filesystem::exists("pwned"));
}

TEST_CASE("a board that cannot be reached is reported in ssh's words, and again when it can") {
  const FakeSsh board;
  board.on_login("echo 'Connection refused' >&2; exit 255");
  Reports reports;
  ProbeRunner runner(often(), reports.receiver());
  runner.watch(kBoard, "ssh://pi@board");
  const auto first = reports.wait(0);
  CHECK(first.status().code() == ErrorCode::unavailable);
  CHECK(first.status().message().find("ssh://pi@board: ssh says: Connection refused") == 0);
  board.on_login("");
  bool is_back = false;
  for (std::size_t i = 1; i < 20 && !is_back; ++i) is_back = reports.wait(i).is_ok();
  CHECK(is_back);
}

TEST_CASE("logins that print nonsense, too much or nothing keep nobody from asking other boards") {
  const FakeSsh boards;
  boards.on_login(
      "case $1 in silent) exec sleep 1000;; flood) yes;; chatty) while :; do echo ferry-ssh model x; done;; "
      "liar) echo 'ferry-ssh machine Linux vax'; echo 'ferry-ssh end '; exit;; noisy) echo Welcome; head -c 1000 "
      "/dev/urandom; echo;; esac");
  Reports reports;
  ProbeRunner runner({milliseconds(30'000), milliseconds(1500), 2}, reports.receiver());
  std::uint64_t number = 1;
  for (const char* host : {"silent", "flood", "chatty", "liar", "noisy"})
    runner.watch(BoardId{number++}, std::string("ssh://") + host);
  for (std::size_t i = 0; i < 5; ++i) (void)reports.wait(i);
  const std::lock_guard lock(reports.mutex);
  REQUIRE(reports.all.size() == 5);
  for (const auto& [address, report] : reports.all) {
    CAPTURE(address);
    CAPTURE(report.is_ok() ? "" : report.status().message());
    if (address == "ssh://silent") CHECK(report.status().code() == ErrorCode::deadline_exceeded);
    if (address == "ssh://flood") CHECK(report.status().code() == ErrorCode::protocol_error);
    if (address == "ssh://chatty") CHECK(report.status().code() == ErrorCode::protocol_error);
    if (address == "ssh://liar") CHECK(report.status().message().find("expected a Linux on an architecture") == 0);
    if (address == "ssh://noisy") CHECK(report.is_ok());
  }
}

TEST_CASE("a runner that ends waits for no board") {
  const FakeSsh board;
  board.on_login("exec sleep 1000");
  Reports reports;
  {
    ProbeRunner runner({milliseconds(100), std::chrono::hours(1), 2}, reports.receiver());
    runner.watch(kBoard, "ssh://board");
    std::this_thread::sleep_for(milliseconds(100));
  }
  CHECK(reports.all.empty());
}
