// How soon a board is free after its holder is lost, and what becomes of leases without a tracker.
#include <signal.h>

#include <thread>

#include "farm/client/farm_client.h"
#include "tests/faults/farm/fault_farm.h"

namespace ferry::test {
namespace {

// For processes on a machine that is busy.
constexpr double kSlack = 2;

// Returns how long it takes until another client is served by the board.
double seconds_until_free(const RealFarm& farm, const std::string& name) {
  const auto begin = Clock::now();
  FaultClient next(farm, name, "b0", 10, FaultClient::Leases::one);
  next.wait_for_call(std::chrono::seconds(30));
  return seconds_since(begin);
}

double last_call(const FaultClient& client) { return client.leases().back().calls.back().received; }

TEST_CASE("a board is free 2 s after its holder was killed, and 12 s after its holder fell silent") {
  RealFarm farm(farm_of(1));
  farm.start_board(0);
  farm.wait_for_boards(1);
  {
    FaultClient holder(farm, "killed", "b0", 60'000, FaultClient::Leases::one);
    holder.wait_for_call();
    holder.process().signal(SIGKILL);
    CHECK(seconds_until_free(farm, "after_killed") < 2);
  }
  FaultClient holder(farm, "silent", "b0", 60'000, FaultClient::Leases::one);
  holder.wait_for_call();
  holder.process().signal(SIGSTOP);
  const double seconds = seconds_until_free(farm, "after_silent");
  CHECK(seconds > 5);
  CHECK(seconds < 12 + kSlack);
  // It learns that it has lost the board.
  const double before = last_call(holder);
  holder.process().signal(SIGCONT);
  CHECK(holder.process().wait() == 0);
  CHECK(holder.leases().back().failure.find("b0") != std::string::npos);
  CHECK(last_call(holder) - before < 20);
}

TEST_CASE("a running lease outlives its tracker, and the next tracker knows it") {
  RealFarm farm(farm_of(1));
  farm.start_board(0);
  farm.wait_for_boards(1);
  FaultClient holder(farm, "holder", "b0", 20'000, FaultClient::Leases::one);
  holder.wait_for_call();
  farm.kill_tracker();
  std::this_thread::sleep_for(std::chrono::seconds(3));
  farm.start_tracker();
  farm.wait_until_scheduling();
  // Beyond the time that clients have to attach again.
  std::this_thread::sleep_for(std::chrono::seconds(11));
  farm::FarmClient connection(farm.access());
  const auto page = connection.ask(farm::wire::ListLeases{});
  REQUIRE_MESSAGE(page.is_ok(), page.status().message());
  REQUIRE(page.value().leases.size() == 1);
  CHECK(page.value().leases[0].boards == std::vector<std::string>{"b0"});
  CHECK(holder.process().wait() == 0);
  CHECK(holder.leases().back().failure == "");
  CHECK(seconds_until_free(farm, "next") < kSlack);
}

TEST_CASE("a lease without a tracker ends on its board in time") {
  RealFarm farm(farm_of(1));
  farm.start_board(0);
  farm.wait_for_boards(1);
  FaultClient holder(farm, "holder", "b0?length=4s", 20'000, FaultClient::Leases::one);
  const LeaseReport lease = holder.wait_for_call();
  farm.kill_tracker();
  CHECK(holder.process().wait() == 0);
  const LeaseReport ended = holder.leases().back();
  CHECK(ended.failure != "");
  CHECK(ended.calls.back().sent > lease.granted + 2);
  CHECK(ended.calls.back().sent < lease.granted + 4);
}

}  // namespace
}  // namespace ferry::test
