// Boards for which the tracker acts, since nothing is installed on them, and which this test reports by itself.
#include "farm/tracker/ssh_boards.h"

#include <doctest/doctest.h>

#include <map>
#include <thread>

#include "farm/store/sqlite_store.h"
#include "tests/support/farm/temporary_folder.h"
#include "tests/support/farm_peers/running_tracker.h"

namespace ferry::test {
namespace {

using farm::BoardLease;
using farm::FarmClient;
using farm::ProbedBoard;
using farm::wire::DeviceListing;
using std::chrono::milliseconds;

constexpr const char* kAddress = "ssh://pi@pi-3";

// Knows what it was asked to watch.
struct TestProber final : farm::BoardProber {
  std::map<farm::BoardId, std::string> watched;
  void watch(farm::BoardId board, const std::string& address) override { watched[board] = address; }
  void forget(farm::BoardId board) override { watched.erase(board); }
  void hurry(farm::BoardId, const farm::KnownLocks& locks) override { orders.push_back(locks); }
  std::vector<farm::KnownLocks> orders;
};

// A tracker over a database on disk, which others may continue from.
struct SshLab {
  TestProber prober;
  std::unique_ptr<RunningTracker> tracker;
  std::uint64_t boot_id = 5;
  std::vector<farm::LockFile> locks;

  explicit SshLab(const std::string& database) {
    farm::TrackerOptions options;
    options.prober = &prober;
    options.master = {{1, 2, 3}};
    auto store = farm::open_sqlite_store(database);
    REQUIRE_MESSAGE(store.is_ok(), store.status().message());
    tracker = std::make_unique<RunningTracker>(std::move(store.value().store), std::move(options));
    REQUIRE(tracker->wait_for_log("scheduling"));
  }

  void configure(const std::string& address, const std::string& name = "pi-3") const {
    tracker->on_loop([&](farm::Tracker& loop) { CHECK(loop.describe_board({name, {}, "", false, address})); });
  }
  // The board has answered, or has not.
  void probe(const Status& failure = {}) {
    tracker->on_loop([&](farm::Tracker& loop) {
      REQUIRE(prober.watched.size() == 1);
      ProbedBoard probed;
      probed.board = prober.watched.begin()->first;
      probed.address = prober.watched.begin()->second;
      probed.failure = failure;
      probed.boot_id = boot_id;
      probed.locks = locks;
      probed.description.arch = "aarch64";
      probed.description.cores = 4;
      probed.heartbeat = {10'000, 45'000, false, 250, 0};
      loop.probed(probed);
    });
  }
  Result<std::unique_ptr<BoardLease>> lease(const farm::FarmAccess& who, milliseconds length = std::chrono::minutes(5),
                                            farm::wire::LeaseKind kind = farm::wire::LeaseKind::attached) const {
    farm::LeaseOptions wanted;
    wanted.selectors = {"pi-3"};
    wanted.length = length;
    wanted.wait = milliseconds(500);
    wanted.kind = kind;
    return BoardLease::request(who, wanted);
  }
  DeviceListing listing(const farm::FarmAccess& who) const {
    auto page = FarmClient(who).ask(farm::wire::ListDevices{});
    REQUIRE_MESSAGE(page.is_ok(), page.status().message());
    REQUIRE(page.value().devices.size() == 1);
    return page.value().devices[0];
  }
};

const Status kUnreachable(ErrorCode::unavailable, "ssh says: no route to host");

TEST_CASE("a board with an address needs no key, joins once it answers, and its lease is granted at once") {
  const TemporaryFolder folder;
  SshLab lab(folder.file("farm.db"));
  const farm::FarmAccess anna = lab.tracker->add_client("anna");
  lab.configure(kAddress);
  CHECK_FALSE(lab.listing(anna).is_connected);
  CHECK(lab.lease(anna).status().code() == ErrorCode::busy);
  lab.probe();
  const DeviceListing listing = lab.listing(anna);
  CHECK(listing.is_connected);
  CHECK(listing.state == "good");
  CHECK(listing.transport == "ssh");
  CHECK(listing.millidegrees == 45'000);
  CHECK(listing.load_permille == 250);
  CHECK(listing.description.arch == "aarch64");
  lease::Epoch first = 0;
  {
    const auto lease = lab.lease(anna);
    REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
    CHECK(lease.value()->slots().at(0).address == kAddress);
    first = lease.value()->slots().at(0).epoch;
    CHECK(first > 0);
    CHECK(lab.lease(lab.tracker->add_client("berta")).status().code() == ErrorCode::busy);
  }
  const auto second = lab.lease(anna);
  REQUIRE_MESSAGE(second.is_ok(), second.status().message());
  CHECK(second.value()->slots().at(0).epoch > first);
  const auto extended = second.value()->extend(std::chrono::minutes(20));
  REQUIRE_MESSAGE(extended.is_ok(), extended.status().message());
  CHECK(extended.value() > std::chrono::minutes(19));
}

TEST_CASE("one probe that fails changes nothing; after two the board has left, and its lease goes on when it is back") {
  const TemporaryFolder folder;
  SshLab lab(folder.file("farm.db"));
  const farm::FarmAccess anna = lab.tracker->add_client("anna");
  lab.configure(kAddress);
  lab.probe();
  const auto lease = lab.lease(anna);
  REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
  lab.probe(kUnreachable);
  CHECK(lab.listing(anna).is_connected);
  lab.probe(kUnreachable);
  CHECK_FALSE(lab.listing(anna).is_connected);
  CHECK(lab.tracker->wait_for_log("board pi-3: ssh says: no route to host"));
  lab.probe();
  CHECK(lab.listing(anna).is_connected);
  CHECK(lab.listing(anna).holder == "anna");
  CHECK_FALSE(lease.value()->wait_for_end(milliseconds(300)));
}

TEST_CASE("a board that has started again has lost its lease") {
  const TemporaryFolder folder;
  SshLab lab(folder.file("farm.db"));
  const farm::FarmAccess anna = lab.tracker->add_client("anna");
  lab.configure(kAddress);
  lab.probe();
  const auto lease = lab.lease(anna);
  REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
  lab.boot_id = 6;
  lab.probe();
  const auto end = lease.value()->wait_for_end(std::chrono::seconds(5));
  REQUIRE(end);
  CHECK(end->reason == "board_lost_lease");
  CHECK(end->failure_class == "infrastructure");
  CHECK(lab.lease(anna).is_ok());
}

TEST_CASE("a lease ends at its time") {
  const TemporaryFolder folder;
  SshLab lab(folder.file("farm.db"));
  const farm::FarmAccess anna = lab.tracker->add_client("anna");
  lab.configure(kAddress);
  lab.probe();
  const auto lease = lab.lease(anna, milliseconds(1500));
  REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
  const auto end = lease.value()->wait_for_end(std::chrono::seconds(6));
  REQUIRE(end);
  CHECK(end->reason == "lease_expired");
  CHECK(lab.lease(anna).is_ok());
}

TEST_CASE("the next tracker goes on with the lease, and hands out later epochs, also after a restored backup") {
  const TemporaryFolder folder;
  const std::string database = folder.file("farm.db");
  std::uint64_t id = 0;
  lease::Epoch epoch = 0;
  {
    SshLab lab(database);
    lab.configure(kAddress);
    lab.probe();
    const auto lease =
        lab.lease(lab.tracker->add_client("anna"), std::chrono::minutes(5), farm::wire::LeaseKind::reserved);
    REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
    id = lease.value()->id();
    epoch = lease.value()->slots().at(0).epoch;
    CHECK(lab.prober.watched.size() == 1);
    lab.tracker.reset();
    CHECK(lab.prober.watched.empty());
  }
  SshLab next(database);
  farm::FarmAccess berta;
  next.tracker->on_loop([](farm::Tracker&) {});
  const auto made = next.tracker->farm().ask({"admin", farm::wire::Role::admin},
                                             farm::wire::AddClient{"berta", farm::wire::Role::admin});
  REQUIRE_MESSAGE(made.is_ok(), made.status().message());
  berta = next.tracker->access({made.value().psk});
  next.configure(kAddress);
  next.probe();
  const DeviceListing listing = next.listing(berta);
  CHECK(listing.is_connected);
  CHECK(listing.holder == "anna");
  CHECK(listing.lease == id);
  REQUIRE(FarmClient(berta).ask(farm::wire::EndLease{id}).is_ok());
  const auto lease = next.lease(berta);
  REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
  CHECK(lease.value()->slots().at(0).epoch > epoch);
  lease.value()->release();
  next.probe(kUnreachable);
  next.probe(kUnreachable);
  next.locks = {{5000, "5000-1-1"}, {700, "700-1-1"}};
  next.probe();
  const auto above = next.lease(berta);
  REQUIRE_MESSAGE(above.is_ok(), above.status().message());
  CHECK(above.value()->slots().at(0).epoch == 5001);
  CHECK(next.tracker->wait_for_log("board pi-3 has the lock file of a lease with epoch 5000"));
}

TEST_CASE("lock files with epochs above the tracker's own are forged: they are removed, and the log says so") {
  const TemporaryFolder folder;
  SshLab lab(folder.file("farm.db"));
  const farm::FarmAccess anna = lab.tracker->add_client("anna");
  const std::string forged = "999999999999999999-1-1";
  lab.configure(kAddress);
  lab.locks = {{999'999'999'999'999'999, forged}};
  lab.probe();
  CHECK(lab.listing(anna).is_connected);
  CHECK(
      lab.tracker->wait_for_log("board pi-3: its last lease has epoch 0, so 1 lock files of later ones, up to epoch "
                                "999999999999999999, are forged; they are removed"));
  const auto orders = [&] {
    std::vector<farm::KnownLocks> all;
    lab.tracker->on_loop([&](farm::Tracker&) { all = lab.prober.orders; });
    return all;
  };
  REQUIRE(orders().size() == 1);
  CHECK(orders()[0].forged == std::vector<std::string>{forged});
  lab.locks.clear();
  lab.probe();
  const auto lease = lab.lease(anna);
  REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
  CHECK(lease.value()->slots().at(0).epoch == 1);
  // A lock of the lease itself is none, nor one that was read before the lease began and is now its own.
  lab.locks = {{1, "1-412-99"}, {2, "2-1-1"}};
  lab.probe();
  REQUIRE(orders().size() == 2);
  CHECK(orders()[1].forged == std::vector<std::string>{"2-1-1"});
  CHECK(orders()[1].epoch == 1);
  // What cannot be removed is no reason to ask without pause.
  lab.probe();
  CHECK(orders().size() == 2);
  // At a lease's end the board is asked soon, so that the next one finds nothing that this one has left there.
  lease.value()->release();
  for (int i = 0; i < 300 && orders().size() == 2; ++i) std::this_thread::sleep_for(milliseconds(10));
  REQUIRE(orders().size() == 3);
  CHECK(orders()[2].epoch == 1);
  CHECK(orders()[2].forged.empty());
}

TEST_CASE("a board whose address is taken away leaves, and one that has joined by itself is left alone") {
  const TemporaryFolder folder;
  SshLab lab(folder.file("farm.db"));
  const farm::FarmAccess anna = lab.tracker->add_client("anna");
  lab.configure(kAddress);
  lab.probe();
  lab.configure("ssh://pi@other");
  CHECK_FALSE(lab.listing(anna).is_connected);
  CHECK(lab.prober.watched.begin()->second == "ssh://pi@other");
  lab.probe();
  CHECK(lab.listing(anna).is_connected);
  lab.configure("");
  CHECK_FALSE(lab.listing(anna).is_connected);
  CHECK(lab.prober.watched.empty());

  const auto board = lab.tracker->join(lab.tracker->board_key("pi-3"));
  lab.configure(kAddress);
  lab.probe();
  CHECK(lab.listing(anna).transport.empty());
  CHECK(lab.tracker->wait_for_log("it has joined by itself, so its address is not used"));
  CHECK(lab.lease(anna).value()->slots().at(0).address == "127.0.0.1:1");
}

TEST_CASE("a retired board does not come back") {
  const TemporaryFolder folder;
  SshLab lab(folder.file("farm.db"));
  lab.configure(kAddress);
  const auto retired =
      FarmClient(lab.tracker->admin()).ask(farm::wire::OrderBoard{"pi-3", farm::wire::BoardOrder::retire});
  REQUIRE_MESSAGE(retired.is_ok(), retired.status().message());
  lab.probe();
  CHECK_FALSE(lab.listing(lab.tracker->admin()).is_connected);
}

TEST_CASE("between two probes a board stays") {
  const TemporaryFolder folder;
  SshLab lab(folder.file("farm.db"));
  lab.configure(kAddress);
  lab.probe();
  std::this_thread::sleep_for(farm::wire::kSilence + std::chrono::seconds(2));
  CHECK(lab.listing(lab.tracker->admin()).is_connected);
}

}  // namespace
}  // namespace ferry::test
