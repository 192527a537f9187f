// Runs farms in virtual time, with faults of all kinds, and holds: no board serves two holders at any time, no session
// outlives its lease, no lease begins while another one has a board of the same machine, epochs only grow, nothing is
// announced before it is committed or granted before it is acknowledged, and every request ends with an answer.
// FERRY_SIMULATED_EVENTS states how many events in all, FERRY_SIMULATION_SEED the first seed.
#include "tests/support/farm/simulation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/support/sample.h"

namespace ferry::test {
namespace {

std::uint64_t event_count() {
  const char* text = std::getenv("FERRY_SIMULATED_EVENTS");
  return text == nullptr ? 3'000'000 : std::strtoull(text, nullptr, 10);
}

TEST_CASE("whatever fails, boards serve one holder at a time and every request is answered") {
  constexpr std::uint64_t kEventsPerFarm = 20'000;
  SimulationCounts all;
  std::uint64_t seed = sample_seed("FERRY_SIMULATION_SEED");
  for (; all.events < event_count(); ++seed) {
    CAPTURE(seed);
    Simulation simulation(seed);
    try {
      simulation.run(kEventsPerFarm);
    } catch (const SimulationFailure& failure) {
      FAIL("seed ", seed, ": ", std::string(failure.what()));
    }
    const SimulationCounts counts = simulation.counts();
    all.events += counts.events;
    all.sessions += counts.sessions;
    all.leases += counts.leases;
    all.answers += counts.answers;
    all.extensions += counts.extensions;
  }
  MESSAGE("events: ", all.events, ", leases: ", all.leases, ", sessions: ", all.sessions, ", answers: ", all.answers,
          ", extensions: ", all.extensions);
  // Faults must not keep the farm from working at all.
  CHECK(all.leases > all.events / 500);
  CHECK(all.sessions > all.events / 500);
  CHECK(all.extensions > 0);
}

TEST_CASE("the same seed gives the same run") {
  const auto counts_of = [] {
    Simulation simulation(5);
    simulation.run(5000);
    return simulation.counts();
  };
  const SimulationCounts first = counts_of(), second = counts_of();
  CHECK(first.events == second.events);
  CHECK(first.sessions == second.sessions);
  CHECK(first.leases == second.leases);
  CHECK(first.answers == second.answers);
}

}  // namespace
}  // namespace ferry::test
