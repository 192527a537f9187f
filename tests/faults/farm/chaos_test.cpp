// Trackers, boards and clients that are killed, stopped and cut off at random while leases go on. Each schedule takes
// 20 s, or as many as FERRY_FARM_FAULT_SECONDS says; FERRY_FARM_FAULT_SEED repeats one, as far as its faults go.
#include <algorithm>
#include <cstdlib>
#include <random>

#include "tests/faults/farm/chaos.h"

namespace ferry::test {
namespace {

unsigned number_of(const char* name, unsigned otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

void check_leases(const std::vector<LeaseReport>& leases, const std::map<std::string, int>& harm) {
  const std::string overlap = find_overlap(leases);
  CHECK_MESSAGE(overlap.empty(), overlap);
  std::size_t calls = 0, served = 0;
  std::map<std::string, int> failures;
  for (const LeaseReport& lease : leases) {
    calls += lease.calls.size();
    served += lease.calls.empty() ? 0 : 1;
    if (!lease.failure.empty()) ++failures[lease.failure.substr(0, 120)];
    if (!lease.calls.empty())
      CHECK_MESSAGE(
          lease.calls.back().sent < lease.granted + Chaos::kLeaseSeconds,
          lease.board << " served a call " << lease.calls.back().sent - lease.granted << " s after the grant");
  }
  std::string summary = std::to_string(calls) + " calls in " + std::to_string(served) + " of " +
                        std::to_string(leases.size()) + " leases";
  for (const auto& [what, count] : harm) summary += "\n" + std::to_string(count) + " " + what;
  for (const auto& [what, count] : failures) summary += "\n" + std::to_string(count) + " times" + what;
  MESSAGE(summary);
  CHECK(served >= 5);
}

void check_through_chaos(const ChaosOptions& options) {
  const unsigned seed = number_of("FERRY_FARM_FAULT_SEED", static_cast<unsigned>(std::random_device()()));
  MESSAGE("FERRY_FARM_FAULT_SEED=" << seed);
  const unsigned seconds = number_of("FERRY_FARM_FAULT_SECONDS", 20);
  Chaos chaos(seed, options);
  chaos.run(seconds, seconds >= 120 ? 60 : 3);
  chaos.wait_until_all_are_served();
  check_leases(chaos.finish(), chaos.harm());
  // On a busy machine a board may have had none yet; in the end each of them gets one.
  bool has_sessions = false;
  for (std::size_t i = 0; i < Chaos::kBoards; ++i) {
    const std::string log = chaos.farm().board_log(i);
    has_sessions |= log.find("session ") != std::string::npos;
    const std::string twice = find_double_session(log);
    CHECK_MESSAGE(twice.empty(), "b" << i << ": " << twice);
  }
  CHECK(has_sessions);

  // Nothing has remained locked.
  chaos.farm().wait_for_boards(Chaos::kBoards);
  for (std::size_t i = 0; i < Chaos::kBoards; ++i) {
    FaultClient last(chaos.farm(), "last" + std::to_string(i), "b" + std::to_string(i), 10, FaultClient::Leases::one);
    CHECK(last.wait_for_call().board == "b" + std::to_string(i));
    CHECK(last.process().wait() == 0);
  }
}

bool has_network() {
  const std::string missing = VirtualNetwork::missing();
  if (!missing.empty()) MESSAGE("skipped: " << missing);
  return missing.empty();
}

TEST_CASE("two leases that one board serves at the same time are found") {
  const LeaseReport first{"b0", 1, 9, "", {{2, 2.1}, {4, 4.1}}};
  CHECK(find_overlap({first, {"b1", 1, 9, "", {{3, 3.1}}}}).empty());
  CHECK(find_overlap({first, {"b0", 4, 9, "", {{4.2, 4.3}, {5, 5.1}}}}).empty());
  // Such an answer may have waited for a client that was stopped.
  CHECK(find_overlap({first, {"b0", 1, 9, "", {{1.5, 3.1}}}}).empty());
  CHECK(!find_overlap({first, {"b0", 1, 9, "", {{3, 3.1}}}}).empty());
}

TEST_CASE("a session that begins before the end of another one is found in a board's log") {
  const std::string start = "rpc_server listening on 127.0.0.1:1\n", first = "session 1: ferry from 127.0.0.1:2\n",
                    end = "session 1: ended\n", second = "session 2: ferry from 127.0.0.1:3\n";
  CHECK(find_double_session(start + first + "session 1: stderr: hello\n" + end + second).empty());
  CHECK(find_double_session(start + first + start + first).empty());
  CHECK(!find_double_session(start + first + second).empty());
}

// No board serves two leases, none outlives its time, and all requests end:
TEST_CASE("leases stay exclusive through kills, stops and cuts") { check_through_chaos({}); }

TEST_CASE("leases stay exclusive through kills, stops and links that lose everything") {
  if (has_network()) check_through_chaos({Database::sqlite, 1, true});
}

TEST_CASE("leases stay exclusive through the loss of trackers that share a database, and of the database") {
  if (has_network()) check_through_chaos({Database::postgres, 2, true});
}

}  // namespace
}  // namespace ferry::test
