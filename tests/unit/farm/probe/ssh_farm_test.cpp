// A farm whose only board offers nothing but a login, which leads to this machine: tracker, probes, clients and server
// are real.
#include <doctest/doctest.h>

#include <thread>

#include "base/throw_status.h"
#include "farm/probe/probe_runner.h"
#include "farm/tracker/ssh_boards.h"
#include "ferry/client.h"
#include "host/client/connect/local_server.h"
#include "rpc/secure/key.h"
#include "tests/support/fake_ssh.h"
#include "tests/support/farm/memory_store.h"
#include "tests/support/farm_peers/running_tracker.h"

namespace ferry::test {
namespace {

using farm::FarmClient;
using farm::wire::DeviceListing;
using std::chrono::milliseconds;

// Passes what a runner finds out to the tracker.
class TestProbes final : public farm::BoardProber {
 public:
  TestProbes()
      : runner_({milliseconds(200), std::chrono::seconds(10), 1},
                [this](farm::BoardId board, const std::string& address, Result<farm::BoardReport> report) {
                  const std::lock_guard lock(mutex_);
                  if (tracker_ == nullptr) return;
                  farm::ProbedBoard probed{board, address, report.status(), 0, {}, {}, {}};
                  if (report.is_ok()) {
                    const farm::BoardReport& one = report.value();
                    probed = {board, address, {}, one.boot_id, one.locks, one.description, one.heartbeat};
                  }
                  tracker_->on_loop([&](farm::Tracker& tracker) { tracker.probed(probed); });
                }) {}
  void set_tracker(RunningTracker* tracker) {
    const std::lock_guard lock(mutex_);
    tracker_ = tracker;
  }
  void watch(farm::BoardId board, const std::string& address) override { runner_.watch(board, address); }
  void forget(farm::BoardId board) override { runner_.forget(board); }
  void hurry(farm::BoardId board, const farm::KnownLocks& locks) override { runner_.hurry(board, locks); }

 private:
  std::mutex mutex_;
  RunningTracker* tracker_ = nullptr;
  farm::ProbeRunner runner_;
};

farm::TrackerOptions options_with(farm::BoardProber& prober) {
  farm::TrackerOptions options;
  options.prober = &prober;
  return options;
}

struct SshFarm {
  FakeSsh board;
  TestProbes probes;
  RunningTracker tracker{std::make_unique<MemoryStore>(), options_with(probes)};
  TemporaryFolder keys;

  SshFarm() {
    probes.set_tracker(&tracker);
    (void)tracker.admin();
    tracker.on_loop([](farm::Tracker& loop) { loop.describe_board({"pi-3", {}, "", false, "ssh://pi@pi-3"}); });
  }
  ~SshFarm() { probes.set_tracker(nullptr); }

  DeviceListing listing() {
    auto page = FarmClient(tracker.admin()).ask(farm::wire::ListDevices{});
    REQUIRE_MESSAGE(page.is_ok(), page.status().message());
    return page.value().devices.at(0);
  }
  bool wait_until_connected(bool is_connected) {
    for (int i = 0; i < 1000 && listing().is_connected != is_connected; ++i)
      std::this_thread::sleep_for(milliseconds(20));
    return listing().is_connected == is_connected;
  }
  // As a user: "farm://127.0.0.1:9191/pi-3" and a key file.
  Device connect_as(const std::string& holder) {
    ConnectOptions options;
    options.key_file = keys.file(holder + ".key");
    const Status written = secure::write_key_file(options.key_file, tracker.add_client(holder).key);
    REQUIRE_MESSAGE(written.is_ok(), written.message());
    options.deadlines.queue = 5;
    return connect("farm://" + to_text(tracker.address()) + "/arch=" + listing().description.arch, options);
  }
};

TEST_CASE("a board in farm.toml with a login is leased like any other, and a partition leaves no second session") {
  if (session::find_board_server("x86_64").empty() && session::find_board_server("aarch64").empty()) {
    MESSAGE("skipped: there is no static rpc_server here; scripts/build.sh --device makes it");
    return;
  }
  SshFarm farm;
  REQUIRE(farm.wait_until_connected(true));
  CHECK(farm.listing().transport == "ssh");
  CHECK(farm.listing().description.cores == std::thread::hardware_concurrency());
  const Device first = farm.connect_as("anna");
  first.synchronize();
  CHECK(farm.listing().holder == "anna");
  CHECK(farm.board.locks().size() == 1);
  try {
    farm.connect_as("berta");
    FAIL("expected an Error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::busy);
  }

  // The tracker gives anna's board to others, but nobody tells her session.
  const auto ended = FarmClient(farm.tracker.admin()).ask(farm::wire::EndLease{farm.listing().lease});
  REQUIRE_MESSAGE(ended.is_ok(), ended.status().message());
  first.synchronize();
  const Device second = farm.connect_as("carl");
  second.synchronize();
  CHECK(farm.listing().holder == "carl");
  try {
    first.synchronize();
    FAIL("expected an Error");
  } catch (const Error& error) {
    const std::string why = error.what();
    CHECK_MESSAGE(why.find("revoked") != std::string::npos, why);
  }
  second.synchronize();
}

TEST_CASE("a lock file of a lease that never was is removed from the board, and the log says so") {
  SshFarm farm;
  REQUIRE(farm.wait_until_connected(true));
  farm.board.write("cache/ferry/lease-999999999999999999-1-1", "", 0600);
  farm.board.write("cache/ferry/lease-1-1-1", "", 0600);
  CHECK(farm.tracker.wait_for_log("up to epoch 999999999999999999, are forged; they are removed"));
  for (int i = 0; i < 500 && !farm.board.locks().empty(); ++i) std::this_thread::sleep_for(milliseconds(20));
  CHECK(farm.board.locks().empty());
  CHECK(farm.listing().is_connected);
}

TEST_CASE("a board that cannot be reached any more leaves, and comes back") {
  SshFarm farm;
  REQUIRE(farm.wait_until_connected(true));
  farm.board.on_login("echo 'No route to host' >&2; exit 255");
  CHECK(farm.wait_until_connected(false));
  CHECK(farm.tracker.wait_for_log("ssh says: No route to host"));
  farm.board.on_login("");
  CHECK(farm.wait_until_connected(true));
}

}  // namespace
}  // namespace ferry::test
