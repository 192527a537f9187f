// How soon a tracker that stands by takes over from one that ends, if it hears of that and if it does not.
#include <doctest/doctest.h>

#include <asio/post.hpp>
#include <chrono>
#include <memory>
#include <optional>

#include "farm/store/change_watch.h"
#include "farm/store/postgres_store.h"
#include "tests/support/farm/postgres_server.h"
#include "tests/support/farm_peers/running_tracker.h"

namespace ferry::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

farm::TrackerOptions shared_options() {
  farm::TrackerOptions options;
  options.is_shared = true;
  options.master = secure::make_key();
  return options;
}

struct SharedTracker {
  explicit SharedTracker(const std::string& uri)
      : tracker(std::move(farm::open_postgres_store(uri).value()), shared_options()) {}

  RunningTracker tracker;
};

// Returns the time from the end of the tracker that schedules until the other one does. It ends at a random moment
// between two polls of the other one.
milliseconds takeover_time(PostgresServer& server, bool is_told) {
  const std::string uri = server.make_database();
  auto active = std::make_unique<SharedTracker>(uri);
  REQUIRE(active->tracker.wait_for_log("scheduling "));
  SharedTracker standby(uri);
  REQUIRE(standby.tracker.wait_for_log("standing by: another tracker schedules"));
  std::optional<farm::ChangeWatch> watch;
  if (is_told)
    watch.emplace(uri, [&] { standby.tracker.on_loop([](farm::Tracker& one) { one.term_may_have_changed(); }); });
  active.reset();
  const auto begin = Clock::now();
  REQUIRE(standby.tracker.wait_for_log("scheduling "));
  return std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
}

TEST_CASE(
    "a tracker that stands by takes over at once when the other one ends, and within a second if it is not told") {
  PostgresServer server;
  // What is told once may come while the database is being asked, and then the next poll counts.
  milliseconds soonest = milliseconds::max(), latest{0};
  for (int i = 0; i < 3; ++i) {
    soonest = std::min(soonest, takeover_time(server, true));
    latest = std::max(latest, takeover_time(server, false));
  }
  MESSAGE("told: " << soonest.count() << " ms; not told: " << latest.count() << " ms at most");
  CHECK(soonest < milliseconds(300));
  CHECK(latest < milliseconds(2500));
}

}  // namespace
}  // namespace ferry::test
