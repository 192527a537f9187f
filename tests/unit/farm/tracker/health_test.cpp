// Which boards are checked, and what becomes of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "farm/tracker/health_rounds.h"
#include "tests/support/farm/memory_store.h"
#include "tests/support/farm_peers/running_tracker.h"

namespace ferry::test {
namespace {

using namespace farm::wire;
using farm::CheckedBoard;
using farm::FarmClient;

// Says how a check ends when it has begun.
class ScriptedChecker final : public farm::HealthChecker {
 public:
  explicit ScriptedChecker(std::vector<CheckedBoard::Result> results) : results_(std::move(results)) {}

  void load(const std::vector<farm::HealthState>& states) override {
    const std::lock_guard lock(mutex_);
    loaded_ = states.size();
  }
  Status start(farm::BoardId board, const std::string& address, const secure::Key&, lease::Epoch,
               const farm::RelayRoute&) override {
    const std::lock_guard lock(mutex_);
    addresses_.push_back(address);
    boards_.push_back(board);
    CheckedBoard checked;
    checked.board = board;
    checked.result = results_.at(std::min(addresses_.size(), results_.size()) - 1);
    checked.reason = "scripted";
    checked.millidegrees = 41'000;
    farm::HealthEntry entry;
    entry.board = board;
    entry.job = "compute";
    entry.picoseconds = addresses_.size();
    entry.verdict = "passed";
    checked.entries = {entry};
    checked.state = farm::HealthState{board, "learned"};
    tracker->checked(checked);
    started_.notify_all();
    return {};
  }
  void cancel(farm::BoardId) override {}

  // Waits for so many checks; returns how many there were.
  std::size_t wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    started_.wait_for(lock, std::chrono::seconds(20), [&] { return addresses_.size() >= count; });
    return addresses_.size();
  }
  // Waits for so many checks of the board that was checked first, or of the others; returns how many there were.
  std::size_t wait_for(std::size_t count, bool of_first) {
    std::unique_lock lock(mutex_);
    const auto checks = [&] {
      return static_cast<std::size_t>(
          std::ranges::count_if(boards_, [&](farm::BoardId board) { return (board == boards_.front()) == of_first; }));
    };
    started_.wait_for(lock, std::chrono::seconds(20), [&] { return checks() >= count; });
    return checks();
  }
  const std::vector<std::string>& addresses() const { return addresses_; }

  RunningTracker* tracker = nullptr;

 private:
  const std::vector<CheckedBoard::Result> results_;
  std::mutex mutex_;  // guards all that follows
  std::condition_variable started_;
  std::vector<std::string> addresses_;
  std::vector<farm::BoardId> boards_;
  std::size_t loaded_ = 0;
};

struct CheckedLab {
  explicit CheckedLab(std::vector<CheckedBoard::Result> results, std::chrono::milliseconds idle = std::chrono::hours(1))
      : checker(std::move(results)) {
    farm::TrackerOptions options;
    options.health = &checker;
    options.health_idle = idle;
    tracker = std::make_unique<RunningTracker>(std::make_unique<MemoryStore>(), std::move(options));
    checker.tracker = tracker.get();
  }
  std::string state() {
    const auto page = FarmClient(tracker->admin()).ask(ListDevices{});
    return page.is_ok() && page.value().devices.size() == 1 ? page.value().devices[0].state : "?";
  }
  std::string wait_for_state(const std::string& expected) {
    for (int i = 0; i < 1000 && state() != expected; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return state();
  }

  ScriptedChecker checker;
  std::unique_ptr<RunningTracker> tracker;
};

TEST_CASE("a board is unknown when it joins, nobody gets it, and it is good once it has passed a check") {
  CheckedLab lab({CheckedBoard::Result::passed});
  const auto board = lab.tracker->join(lab.tracker->board_key("pi-3"));
  CHECK(lab.state() == "unknown");
  CHECK(lab.checker.wait_for(1) == 1);
  CHECK(lab.checker.addresses().at(0) == "127.0.0.1:1");
  CHECK(lab.wait_for_state("good") == "good");
  CHECK(board->wait_until_free());
  const auto checks = FarmClient(lab.tracker->admin()).ask(ListHealth{"pi-3", 0});
  REQUIRE(checks.is_ok());
  REQUIRE(checks.value().checks.size() == 1);
  CHECK(checks.value().checks[0].job == "compute");
  // Its lease was one as any other.
  CHECK(board->served().size() == 1);
}

TEST_CASE("a board that fails is suspect, is checked again, and is bad when it fails again") {
  CheckedLab lab({CheckedBoard::Result::failed, CheckedBoard::Result::failed});
  const auto board = lab.tracker->join(lab.tracker->board_key("pi-3"));
  CHECK(lab.checker.wait_for(2) == 2);
  CHECK(lab.wait_for_state("bad") == "bad");
  CHECK(lab.tracker->wait_for_log("is suspect: it has failed a health check"));
  CHECK(lab.tracker->wait_for_log("is bad: it has failed a health check again"));
}

TEST_CASE("a good board that nobody uses is checked again, one that is used is not") {
  CheckedLab lab({CheckedBoard::Result::passed});
  const auto used = lab.tracker->join(lab.tracker->board_key("pi-3"));
  CHECK(lab.wait_for_state("good") == "good");
  {
    farm::LeaseOptions wanted;
    wanted.selectors = {"pi-3"};
    const auto lease = farm::BoardLease::request(lab.tracker->add_client("anna"), wanted);
    REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
    lab.tracker->on_loop([](farm::Tracker& tracker) { tracker.set_health_idle(std::chrono::milliseconds(0)); });
    // The round in which a new board is checked has also seen the one in use, for which no check waits now.
    const auto other = lab.tracker->join(lab.tracker->board_key("pi-4"));
    CHECK(lab.checker.wait_for(1, false) >= 1);
    const auto waiting = FarmClient(lab.tracker->admin()).ask(ListQueue{});
    REQUIRE(waiting.is_ok());
    for (const QueueListing& request : waiting.value().requests)
      CHECK(request.selectors.at(0).find("pi-3") == std::string::npos);
  }
  CHECK(lab.checker.wait_for(2, true) >= 2);
}

}  // namespace
}  // namespace ferry::test
