// What those who wait hear when no lease is what they wait for.
#include <doctest/doctest.h>

#include "tests/unit/farm/core/lease/machine_driver.h"

namespace ferry::test {
namespace {

// The reason that the client of request 1 heard last.
std::string reason(MachineDriver& farm) {
  farm.pass(seconds(2));
  const auto told = farm.waiting.find(lease_id(1));
  return told == farm.waiting.end() ? "it heard nothing" : told->second.why;
}

TEST_CASE("who waits for boards that are away hears which, and since when") {
  MachineDriver farm;
  farm.now = farm::Time(hours(24 * 365) + hours(14) + minutes(36));
  farm.enrol(1);
  farm.enrol(2);
  farm.join(2);
  farm.handle(farm::BoardLeft{board_link(2)});
  // When it left is known to the tracker that saw it.
  farm.restart();
  farm.join(1);
  farm.pass(seconds(13));
  farm.handle(farm::BoardLeft{board_link(1)});
  farm.submit(1, "ann");
  CHECK(reason(farm) == "both boards that fit are not connected (b1 since 14:36:13 UTC, b2)");
  farm.handle(farm.joining(1, 101));
  CHECK(farm.is_granted(1));
}

TEST_CASE("a request that waits for a lease has no other reason to wait, and gets one when its board leaves") {
  MachineDriver farm;
  farm.enrol(1);
  farm.join(1);
  farm.submit(2, "ben");
  farm.submit(1, "ann");
  CHECK(reason(farm) == "");
  farm.handle(farm::BoardLeft{board_link(1)});
  CHECK(reason(farm).starts_with("the board that fits is not connected (b1 since "));
  farm.handle(farm.joining(1, 101));
  CHECK(farm.is_granted(1));
}

TEST_CASE("boards that are checked, maintained or hot are named with what keeps them") {
  MachineDriver farm(true);
  farm.enrol(1);
  farm.join(1);
  farm.submit(1, "ann");
  CHECK(reason(farm) == "b1 is being checked, since it has started and was not checked yet");
  farm.handle(farm::HealthChecked{board_id(1), false});
  CHECK(reason(farm) == "b1 is being checked again, since it has failed a check");
  farm.handle(farm::BoardOrdered{board_id(1), farm::BoardOrder::maintain});
  farm.enrol(2);
  farm.join(2);
  farm.handle(farm::BoardLeft{board_link(2)});
  CHECK(reason(farm).starts_with("b1 is maintained; not connected: b2 since "));
  farm.submit(farm.request(3, "ben", {"b1", "b2"}));
  farm.pass(seconds(2));
  CHECK(farm.waiting.at(lease_id(3)).why == "for 'b1' b1 is maintained");
}

TEST_CASE("of very many boards a few are named, and a request that is given up says why") {
  MachineDriver farm;
  for (std::uint64_t i = 1; i <= 9; ++i) {
    farm.enrol(i);
    farm.handle(farm::BoardJoined(farm.joining(i, i)));
    farm.handle(farm::BoardLeft{board_link(i)});
  }
  farm.restart();
  farm.submit(1, "ann");
  const std::string why = "all 9 boards that fit are not connected (b1, b2, b3, b4, 5 more)";
  CHECK(reason(farm) == why);
  farm.pass(hours(1));
  CHECK(farm.end_of(1) == "wait_expired");
  CHECK(farm.ended.at(lease_id(1)).text == "no board became available in time: " + why);
}

}  // namespace
}  // namespace ferry::test
