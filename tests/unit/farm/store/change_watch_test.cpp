// Trackers that share a PostgreSQL hear at once who schedules, and miss nothing for good.
#include "farm/store/change_watch.h"

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "farm/store/postgres_connection.h"
#include "farm/store/postgres_store.h"
#include "tests/support/farm/postgres_server.h"

namespace ferry::test {
namespace {

using Clock = std::chrono::steady_clock;

// Trackers ask the database every second.
constexpr std::chrono::milliseconds kWellBeforeThePoll{700};
constexpr std::chrono::seconds kTimeout{20};

PostgresServer& watched_server() {
  static PostgresServer server;
  return server;
}

std::unique_ptr<farm::Store> open(const std::string& uri) {
  auto opened = farm::open_postgres_store(uri);
  REQUIRE_MESSAGE(opened.is_ok(), opened.status().message());
  return std::move(opened.value());
}

class Listener {
 public:
  explicit Listener(const std::string& uri) : watch_(uri, [this] { hear(); }) {
    // The first call says that it listens.
    REQUIRE(wait_for(1));
  }
  // How often it was called.
  std::size_t heard() const {
    const std::lock_guard lock(mutex_);
    return heard_;
  }
  bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kTimeout, [&] { return heard_ >= count; });
  }

 private:
  void hear() {
    const std::lock_guard lock(mutex_);
    ++heard_;
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t heard_ = 0;
  farm::ChangeWatch watch_;
};

TEST_CASE("that a tracker takes the right to schedule is heard at once, and other writes are not") {
  const std::string uri = watched_server().make_database();
  const auto store = open(uri);
  Listener listener(uri);
  const auto begin = Clock::now();
  const auto term = store->take_term();
  REQUIRE_MESSAGE(term.is_ok(), term.status().message());
  REQUIRE(listener.wait_for(2));
  CHECK(Clock::now() - begin < kWellBeforeThePoll);
  const std::vector<farm::Persist> commits{{term.value(), 1, {farm::HolderRecord{"ann", 1, 0, {}}}}};
  CHECK(store->apply(commits).is_ok());
  CHECK(store->add_audit_entry({farm::Time(), "ann", "retire", {}, ""}).is_ok());
  // What those had announced would come before this.
  CHECK(store->take_term().is_ok());
  REQUIRE(listener.wait_for(3));
  CHECK(listener.heard() == 3);
}

TEST_CASE("a tracker that ends gives the right up, and another one has it as soon as it hears of that") {
  const std::string uri = watched_server().make_database();
  auto active = open(uri);
  const auto standby = open(uri);
  REQUIRE(active->take_term().is_ok());
  CHECK(standby->take_term().status().code() == ErrorCode::busy);
  Listener listener(uri);
  const auto begin = Clock::now();
  active.reset();
  REQUIRE(listener.wait_for(2));
  const auto next = standby->take_term();
  CHECK_MESSAGE(next.is_ok(), next.status().message());
  CHECK(Clock::now() - begin < kWellBeforeThePoll);
}

TEST_CASE("who does not schedule announces no end") {
  const std::string uri = watched_server().make_database();
  const auto active = open(uri);
  auto standby = open(uri);
  REQUIRE(active->take_term().is_ok());
  CHECK(!standby->take_term().is_ok());
  Listener listener(uri);
  standby.reset();
  CHECK(active->take_term().is_ok());
  REQUIRE(listener.wait_for(2));
  CHECK(listener.heard() == 2);
}

TEST_CASE("after its connection was lost a watch says that something may have happened, and goes on") {
  PostgresServer server;
  const std::string uri = server.make_database();
  open(uri);
  Listener listener(uri);
  server.stop();
  server.start();
  REQUIRE(listener.wait_for(2));
  const std::size_t before = listener.heard();
  REQUIRE(open(uri)->take_term().is_ok());
  CHECK(listener.wait_for(before + 1));
}

TEST_CASE("a watch ends at once, with and without a server") {
  const auto begin = Clock::now();
  {
    const farm::ChangeWatch nowhere("postgresql://ferry@%2Fnowhere/farm", [] { FAIL("nothing has changed"); });
  }
  {
    const Listener listener(watched_server().make_database());
  }
  CHECK(Clock::now() - begin < kTimeout / 4);
}

}  // namespace
}  // namespace ferry::test
