// A tracker whose database takes no more commits.
#include <doctest/doctest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "host/farm/client/tracker_link.h"
#include "host/farm/store/database_thread.h"
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

// Opens the gate, so that the tracker can stop, whatever a test finds.
struct Opening {
  Gate& gate;
  ~Opening() { gate.set_open(true); }
};

TEST_CASE("a client is revoked while the database can take no commit: the tracker steps back and begins again") {
  Gate gate;
  RunningTracker tracker(std::make_unique<HookedStore>(std::make_unique<MemoryStore>(),
                                                       [&](std::span<const farm::Persist>) { return gate.pass(); }));
  const Opening opening{gate};
  const auto board = tracker.join(tracker.board_key("pi-3"));
  const farm::FarmAccess anna = tracker.add_client("anna"), berta = tracker.add_client("berta");
  farm::LeaseWish wish;
  wish.selectors = {"pi-3"};
  const auto lease = farm::BoardLease::request(berta, wish);
  REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());

  auto link = farm::TrackerLink::open(anna, tracker.address(), std::chrono::seconds(5));
  REQUIRE(link.is_ok());
  gate.set_open(false);
  const auto submit = [&](std::uint64_t id, const char* selector) {
    REQUIRE(link.value()->send(Submit{{id, {selector}, 0, 60'000, 60'000, LeaseKind::attached}}).is_ok());
  };
  // Each event is a commit.
  for (std::size_t commits = 0; commits + 2 < farm::DatabaseThread::kMaxCommits; commits += 2) {
    submit(1, "pi-3");
    REQUIRE(link.value()->send(Release{1}).is_ok());
  }
  submit(2, "pi-3");
  submit(3, "pi-3");
  // What is refused needs no commit, so its answer says that the others have been taken.
  submit(4, "no-such-board");
  std::uint64_t ended = 0;
  while (ended != 4) {
    const auto frame = link.value()->receive(std::chrono::steady_clock::now() + std::chrono::seconds(5));
    REQUIRE_MESSAGE(frame.is_ok(), frame.status().message());
    REQUIRE(frame.value());
    if (frame.value()->header.tag == static_cast<std::uint16_t>(Tag::Ended))
      ended = decode<Ended>(frame.value()->body).value().lease;
  }
  CHECK(
      farm::TrackerConnection(tracker.admin()).ask(RevokeCredential{CredentialKind::client, "anna"}).status().code() ==
      ErrorCode::unavailable);
  CHECK(tracker.wait_for_log("commits wait for the database already"));
  gate.set_open(true);
  for (int i = 0; i < 500 && !tracker.farm().numbers().value().is_scheduling; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(tracker.farm().numbers().value().is_scheduling);
}

}  // namespace
}  // namespace ferry::test
