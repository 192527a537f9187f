// Tests what is noticed of a database that somebody has damaged.
#include "farm/core/lease/check_snapshot.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/unit/farm/core/lease/machine_driver.h"

namespace ferry::test {
namespace {

// Two boards, of which a request has one, and a request that waits.
farm::Snapshot sound_snapshot() {
  MachineDriver farm;
  farm.enrol(1);
  farm.enrol(2);
  farm.join(1);
  farm.submit(5, "ann", {"b1"});
  farm.submit(6, "ben", {"b1"});
  farm.submit(7, "ben", {"b2"});
  farm.handle(farm::LeaseReleased{lease_id(5)});
  return farm.store.snapshot();
}

TEST_CASE("what a machine has persisted passes") {
  const farm::Snapshot snapshot = sound_snapshot();
  REQUIRE(snapshot.leases.size() == 1);
  REQUIRE(snapshot.requests.size() == 2);
  REQUIRE(!snapshot.holders.empty());
  REQUIRE(!snapshot.hold_times.empty());
  const Status checked = farm::check_snapshot(snapshot);
  CHECK_MESSAGE(checked.is_ok(), checked.message());
}

TEST_CASE("records that contradict each other, or that no machine writes, are named") {
  using farm::Duration;
  using farm::Snapshot;
  struct Damage {
    std::string message;
    std::function<void(Snapshot&)> make;
  };
  const std::vector<Damage> damages = {
      {"board 1 has an unknown state", [](Snapshot& s) { s.boards[0].state = farm::BoardState{9}; }},
      {"there is no board 1", [](Snapshot& s) { s.boards.erase(s.boards.begin()); }},
      {"there is no board 99", [](Snapshot& s) { s.hold_times[0].board = board_id(99); }},
      {"the mean length of leases on board 1", [](Snapshot& s) { s.hold_times[0].mean_seconds = INFINITY; }},
      {"there is no request of lease 6", [](Snapshot& s) { s.requests.clear(); }},
      {"lease 6: expected 1 boards, got 0", [](Snapshot& s) { s.leases[0].parts.clear(); }},
      {"the times of lease 6", [](Snapshot& s) { s.leases[0].end = farm::Time::max(); }},
      {"board 1 is leased twice",
       [](Snapshot& s) {
         s.leases.push_back(s.leases[0]);
         s.leases[1].id = lease_id(7);
       }},
      {"request 6 is outside of the limits", [](Snapshot& s) { s.requests[0].request.slots.clear(); }},
      {"request 6 is outside of the limits", [](Snapshot& s) { s.requests[0].request.length = Duration::max(); }},
      {"request 6 is outside of the limits", [](Snapshot& s) { s.requests[0].request.wait = Duration(-1); }},
      {"request 6 is outside of the limits", [](Snapshot& s) { s.requests[0].request.priority = 101; }},
      {"request 6 is outside of the limits", [](Snapshot& s) { s.requests[0].submitted = farm::Time::min(); }},
      {"request 6 is outside of the limits", [](Snapshot& s) { s.requests[0].request.kind = farm::LeaseKind{7}; }},
      {"the share of ann", [](Snapshot& s) { s.holders[0].weight = 0; }},
      {"the share of ann", [](Snapshot& s) { s.holders[0].board_seconds = NAN; }},
  };
  for (const Damage& damage : damages) {
    CAPTURE(damage.message);
    Snapshot snapshot = sound_snapshot();
    damage.make(snapshot);
    const Status checked = farm::check_snapshot(snapshot);
    CHECK(checked.code() == ErrorCode::device_error);
    CHECK(checked.message() == "the database is damaged: " + damage.message);
  }
}

}  // namespace
}  // namespace ferry::test
