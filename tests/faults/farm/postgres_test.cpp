// Two trackers on one PostgreSQL, of which one stands by, and a PostgreSQL that is gone for a while.
#include <signal.h>

#include <cstdlib>
#include <thread>

#include "tests/faults/farm/fault_farm.h"

namespace ferry::test {
namespace {

constexpr double kSlack = 2;

struct StandbyFarm : RealFarm {
  StandbyFarm() : RealFarm(farm_of(2, Database::postgres, 2)) {
    start_board(0);
    start_board(1);
    wait_for_boards(2);
  }
};

double seconds_until_served(const RealFarm& farm, const std::string& name) {
  const auto begin = Clock::now();
  for (;;) {
    FaultClient client(farm, name, "b1", 1, FaultClient::Leases::one);
    client.process().wait();
    const std::vector<LeaseReport> leases = client.leases();
    if (!leases.empty() && !leases.back().calls.empty()) return seconds_since(begin);
    REQUIRE_MESSAGE(seconds_since(begin) < 40, leases.back().failure);
  }
}

TEST_CASE("when the tracker that schedules is killed, clients go on with the one that stands by") {
  StandbyFarm farm;
  FaultClient holder(farm, "holder", "b0", 8000, FaultClient::Leases::one);
  holder.wait_for_call();
  farm.kill_tracker(0);
  const double seconds = seconds_until_served(farm, "next");
  MESSAGE("served after " << seconds << " s");
  CHECK(seconds < 2 + kSlack);
  CHECK(holder.process().wait() == 0);
  CHECK(holder.leases().back().failure == "");
}

TEST_CASE("when the host of the tracker that schedules falls silent, clients go on within 12 s") {
  StandbyFarm farm;
  FaultClient holder(farm, "holder", "b0", 18'000, FaultClient::Leases::one);
  holder.wait_for_call();
  signal_host(farm.tracker(0), SIGSTOP);
  const double seconds = seconds_until_served(farm, "next");
  MESSAGE("served after " << seconds << " s");
  CHECK(seconds < 12 + kSlack);
  CHECK(holder.process().wait() == 0);
  CHECK(holder.leases().back().failure == "");
  // Whatever it still believes, it does no harm.
  signal_host(farm.tracker(0), SIGCONT);
  CHECK(seconds_until_served(farm, "last") < 12 + kSlack);
}

TEST_CASE("leases go on while PostgreSQL is gone, and boards are given out again when it is back") {
  RealFarm farm(farm_of(2, Database::postgres));
  farm.start_board(0);
  farm.start_board(1);
  farm.wait_for_boards(2);
  const char* const text = std::getenv("FERRY_FARM_FAULT_SECONDS");
  const int gone = text == nullptr ? 5 : 60;
  FaultClient holder(farm, "holder", "b0", 1000 * (gone + 2), FaultClient::Leases::one);
  holder.wait_for_call();
  farm.postgres().stop();
  FaultClient waiting(farm, "waiting", "b1", 10, FaultClient::Leases::one);
  std::this_thread::sleep_for(std::chrono::seconds(gone));
  for (const LeaseReport& lease : waiting.leases()) CHECK(lease.calls.empty());
  farm.postgres().start();
  CHECK(holder.process().wait() == 0);
  CHECK(holder.leases().back().failure == "");
  waiting.process().wait();
  CHECK(seconds_until_served(farm, "next") < 5);
}

}  // namespace
}  // namespace ferry::test
