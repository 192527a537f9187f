// A tracker whose database takes no more commits.
#include <doctest/doctest.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "farm/client/tracker_connection.h"
#include "farm/store/database_thread.h"
#include "tests/support/farm/hooked_store.h"
#include "tests/support/farm/memory_store.h"
#include "tests/support/farm_peers/running_tracker.h"

namespace ferry::test {
namespace {

using namespace farm::wire;

// Commits wait here while it is closed.
class Gate {
 public:
  Status pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_open_; });
    return {};
  }
  void set_open(bool is_open) {
    const std::lock_guard lock(mutex_);
    is_open_ = is_open;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = true;
};

// A farm with one board, which berta holds, and commits that can be held up.
struct SlowFarm {
  ~SlowFarm() { gate.set_open(true); }

  Result<std::unique_ptr<farm::BoardLease>> lease(const farm::FarmAccess& who) const {
    farm::LeaseOptions wanted;
    wanted.selectors = {"pi-3"};
    return farm::BoardLease::request(who, wanted);
  }
  void make_commits(std::size_t count) {
    tracker.on_loop([count](farm::Tracker& busy) {
      for (std::size_t i = 0; i < count; ++i) busy.set_weight("carla", 2);
    });
  }
  std::size_t waiting() {
    const auto numbers = tracker.farm().numbers();
    REQUIRE_MESSAGE(numbers.is_ok(), numbers.status().message());
    return numbers.value().requests_waiting;
  }
  std::unique_ptr<farm::TrackerConnection> open(const farm::FarmAccess& who) const {
    auto link = farm::TrackerConnection::open(who, tracker.address(), std::chrono::seconds(5));
    REQUIRE_MESSAGE(link.is_ok(), link.status().message());
    return std::move(link.value());
  }
  bool wait_until(const std::function<bool()>& is_true) const {
    for (int i = 0; i < 500 && !is_true(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return is_true();
  }

  Gate gate;
  RunningTracker tracker{std::make_unique<HookedStore>(std::make_unique<MemoryStore>(),
                                                       [this](std::span<const farm::Persist>) { return gate.pass(); })};
  std::unique_ptr<TestBoard> board = tracker.join(tracker.board_key("pi-3"));
  farm::FarmAccess anna = tracker.add_client("anna"), berta = tracker.add_client("berta");
  std::unique_ptr<farm::BoardLease> held = std::move(lease(berta).value());
};

Submit submission(std::uint64_t id) { return Submit{{id, {"pi-3"}, 0, 60'000, 60'000, LeaseKind::attached}}; }

// What the tracker says when it closes the connection.
std::string final_message(farm::TrackerConnection& link) {
  while (true) {
    const auto frame = link.receive(std::chrono::steady_clock::now() + std::chrono::seconds(5));
    if (!frame.is_ok()) return frame.status().message();
    if (!frame.value()) return "nothing for five seconds";
  }
}

TEST_CASE("a client is revoked while the database can take no commit: the tracker steps back and begins again") {
  SlowFarm slow;
  const auto link = slow.open(slow.anna);
  REQUIRE(link->send(submission(1)).is_ok());
  REQUIRE(slow.wait_until([&] { return slow.waiting() == 1; }));
  farm::FarmClient connection(slow.tracker.admin());
  REQUIRE(connection.ask(ListQueue{}).is_ok());
  slow.gate.set_open(false);
  slow.make_commits(farm::DatabaseThread::kMaxCommits);
  CHECK(connection.ask(RevokeCredential{CredentialKind::client, "anna"}).status().code() == ErrorCode::unavailable);
  CHECK(slow.tracker.wait_for_log("commits wait for the database already"));
  slow.gate.set_open(true);
  CHECK(slow.wait_until([&] { return slow.tracker.farm().numbers().value().is_scheduling; }));
}

TEST_CASE("those who flood a slow database are sent away, and others get their turn") {
  SlowFarm slow;
  const auto flooding = slow.open(slow.anna), other = slow.open(slow.berta);
  slow.gate.set_open(false);
  slow.make_commits(farm::DatabaseThread::kMaxCommits / 4);
  // Each would be a commit, and more than the database can take.
  std::thread client([&] {
    for (std::size_t i = 0; i < farm::DatabaseThread::kMaxCommits; ++i)
      if (!flooding->send(submission(1)).is_ok() || !flooding->send(Release{1}).is_ok()) return;
  });
  for (std::uint64_t i = 0; i < 1000; ++i) slow.board->send(Acknowledged{{i, 1}, 0});
  CHECK(final_message(*flooding).find("the database lags behind") != std::string::npos);
  client.join();
  CHECK(slow.board->wait_for_end().find("the database lags behind") != std::string::npos);
  REQUIRE(other->send(submission(2)).is_ok());
  CHECK(slow.wait_until([&] { return slow.waiting() == 1; }));
  slow.gate.set_open(true);
  CHECK(slow.tracker.farm().numbers().value().is_scheduling);
  for (const std::string& line : slow.tracker.log()) {
    CAPTURE(line);
    CHECK(line.find("standing by") == std::string::npos);
  }
}

}  // namespace
}  // namespace ferry::test
