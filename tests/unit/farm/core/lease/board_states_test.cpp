// Tests which boards are handed out: their states, heat, and copies of their keys.
#include <doctest/doctest.h>

#include "tests/unit/farm/core/lease/machine_driver.h"

namespace ferry::test {
namespace {

using farm::BoardState;

struct Farm : MachineDriver {
  explicit Farm(bool has_health_checks = false) : MachineDriver(has_health_checks) {
    enrol(1);
    join(1);
  }
  BoardState state() const { return store.board(board_id(1)).state; }
};

TEST_CASE("a board must pass a health check before it is handed out, and again when it has started again") {
  Farm farm(true);
  farm.submit(1, "ann");
  CHECK(!farm.is_granted(1));
  farm.handle(farm::HealthChecked{board_id(1), true});
  CHECK(farm.is_granted(1));
  farm.handle(farm::LeaseReleased{lease_id(1)});
  farm.handle(farm::BoardLeft{board_link(1)});
  farm.handle(farm.joining(1, 101, 2));
  CHECK(farm.state() == BoardState::unknown);
}

TEST_CASE("a board that connects again without having started again keeps its state") {
  Farm farm(true);
  farm.handle(farm::HealthChecked{board_id(1), true});
  farm.handle(farm::BoardLeft{board_link(1)});
  farm.handle(farm.joining(1, 101));
  CHECK(farm.state() == BoardState::good);
}

TEST_CASE("a failed health check makes a board suspect, a repeated one bad") {
  Farm farm(true);
  farm.handle(farm::HealthChecked{board_id(1), false});
  CHECK(farm.state() == BoardState::suspect);
  farm.handle(farm::HealthChecked{board_id(1), true});
  CHECK(farm.state() == BoardState::good);
  farm.handle(farm::HealthChecked{board_id(1), false});
  farm.handle(farm::HealthChecked{board_id(1), false});
  CHECK(farm.state() == BoardState::bad);
  farm.handle(farm::HealthChecked{board_id(1), true});
  CHECK(farm.state() == BoardState::bad);
  farm.submit(1, "ann");
  CHECK(farm.end_of(1) == "unservable");
  farm.handle(farm::BoardOrdered{board_id(1), farm::BoardOrder::return_to_service});
  CHECK(farm.state() == BoardState::unknown);
}

TEST_CASE("health checks get boards that are unknown or suspect, others do not") {
  Farm farm(true);
  farm.submit(1, "ann");
  farm::Request check = farm.request(2, "health", {"b1"});
  check.is_health_check = true;
  farm.submit(check);
  CHECK(farm.is_granted(2));
  CHECK(!farm.is_granted(1));
}

TEST_CASE("a lease goes on when its board is taken into maintenance, and nobody gets the board afterwards") {
  Farm farm;
  farm.submit(1, "ann");
  farm.handle(farm::BoardOrdered{board_id(1), farm::BoardOrder::maintain});
  CHECK(farm.is_granted(1));
  farm.submit(2, "ben");
  farm.handle(farm::LeaseReleased{lease_id(1)});
  CHECK(!farm.is_granted(2));
  CHECK(farm.sent<farm::BoardStateChanged>().back().state == BoardState::maintenance);
}

TEST_CASE("a hot board is not handed out until it has cooled to its baseline") {
  Farm farm;
  farm.keeps_alive = false;
  farm.handle(farm::BaselineMeasured{board_id(1), 45'000});
  farm.heartbeat(1, 56'000);
  farm.submit(1, "ann");
  CHECK(!farm.is_granted(1));
  farm.heartbeat(1, 50'000);
  CHECK(!farm.is_granted(1));
  farm.heartbeat(1, 47'000);
  CHECK(farm.is_granted(1));
}

TEST_CASE("temperatures that no sensor shows are compared without overflow") {
  Farm farm;
  farm.keeps_alive = false;
  farm.handle(farm::BaselineMeasured{board_id(1), INT32_MIN});
  farm.heartbeat(1, INT32_MAX);
  farm.submit(1, "ann");
  CHECK(!farm.is_granted(1));
  farm.handle(farm::BaselineMeasured{board_id(1), INT32_MAX});
  farm.heartbeat(1, INT32_MIN);
  CHECK(farm.is_granted(1));
}

TEST_CASE("a board that throttles is hot, whatever its sensor shows") {
  Farm farm;
  farm.heartbeat(1, std::nullopt, true);
  farm.submit(1, "ann");
  CHECK(!farm.is_granted(1));
  farm.heartbeat(1);
  CHECK(farm.is_granted(1));
}

TEST_CASE("a request that waited in vain for a board to cool ends as a thermal failure") {
  Farm farm;
  farm.heartbeat(1, std::nullopt, true);
  farm::Request request = farm.request(1, "ann");
  request.wait = seconds(5);
  farm.submit(request);
  farm.keeps_alive = false;
  farm.pass(seconds(5));
  CHECK(farm.end_of(1) == "too_hot");
  CHECK(farm::class_of(farm::EndReason::too_hot) == farm::FailureClass::thermal);
}

TEST_CASE("a board from which nothing was heard for 11 s is not handed out") {
  Farm farm;
  farm.keeps_alive = false;
  farm.pass(seconds(11));
  CHECK(farm.sent<farm::CloseBoard>().size() == 1);
  farm.submit(1, "ann");
  CHECK(!farm.is_granted(1));
  CHECK(farm.end_of(1).empty());
}

TEST_CASE("the same key with the same boot id replaces the connection") {
  Farm farm;
  farm.handle(farm.joining(1, 101));
  REQUIRE(farm.sent<farm::CloseBoard>().size() == 1);
  CHECK(farm.sent<farm::CloseBoard>()[0].connection == board_link(1));
  farm.submit(1, "ann");
  CHECK(farm.sent<farm::AnnounceLease>()[0].connection == board_link(101));
}

TEST_CASE("a copied key makes the board suspect, and the copy is refused") {
  Farm farm;
  farm.submit(1, "ann");
  farm.handle(farm.joining(1, 101, 2));
  REQUIRE(farm.sent<farm::ProbeBoard>().size() == 1);
  const std::uint64_t probe = farm.sent<farm::ProbeBoard>()[0].probe;
  // A heartbeat that was sent before the probe proves nothing.
  farm.heartbeat(1);
  CHECK(farm.state() == BoardState::good);
  farm.handle(farm::BoardHeartbeat{board_link(1), farm.boot_time(), {}, false, probe});
  CHECK(farm.state() == BoardState::suspect);
  REQUIRE(farm.sent<farm::CloseBoard>().size() == 1);
  CHECK(farm.sent<farm::CloseBoard>()[0].connection == board_link(101));
  CHECK(farm.is_granted(1));
}

TEST_CASE("a board that has started again replaces its old connection, which does not answer any more") {
  Farm farm;
  farm.submit(1, "ann");
  farm.keeps_alive = false;
  farm.handle(farm.joining(1, 101, 2));
  farm.pass(seconds(3));
  CHECK(farm.sent<farm::CloseBoard>()[0].connection == board_link(1));
  CHECK(farm.end_of(1) == "board_lost_lease");
  CHECK(farm.state() == BoardState::good);
  farm.submit(2, "ben");
  CHECK(farm.sent<farm::AnnounceLease>().back().connection == board_link(101));
}

TEST_CASE("a board that has started again is accepted as soon as its old connection ends") {
  Farm farm;
  farm.handle(farm.joining(1, 101, 2));
  farm.handle(farm::BoardLeft{board_link(1)});
  farm.submit(1, "ann");
  CHECK(farm.sent<farm::AnnounceLease>()[0].connection == board_link(101));
}

TEST_CASE("a contender that leaves changes nothing") {
  Farm farm;
  farm.handle(farm.joining(1, 101, 2));
  farm.handle(farm::BoardLeft{board_link(101)});
  farm.pass(seconds(5));
  CHECK(farm.sent<farm::CloseBoard>().empty());
  farm.submit(1, "ann");
  CHECK(farm.is_granted(1));
}

TEST_CASE("boards that are not enrolled or are retired are refused") {
  Farm farm;
  farm.handle(farm.joining(9, 109));
  CHECK(farm.sent<farm::CloseBoard>()[0].reason == "this board is not enrolled");
  farm.handle(farm::BoardOrdered{board_id(1), farm::BoardOrder::retire});
  farm.handle(farm.joining(1, 101));
  CHECK(farm.sent<farm::CloseBoard>()[1].reason == "this board is retired");
}

TEST_CASE("a board cannot take another name, or tags that its enrolment gives another value") {
  Farm farm;
  farm.handle(farm::BoardEnrolled{board_id(1), "b1", {{"rack", "2"}}, "", false});
  farm::BoardJoined again = farm.joining(1, 101);
  again.description.name = "b9";
  again.description.tags = {{"rack", "9"}, {"fan", ""}};
  farm.handle(again);
  CHECK(farm.store.board(board_id(1)).description.name == "b1");
  farm.submit(1, "ann", {"name=b1,tag:rack=2,tag:fan"});
  CHECK(farm.is_granted(1));
  farm.submit(2, "ann", {"b9"});
  CHECK(farm.end_of(2) == "unservable");
  farm.handle(farm::BoardEnrolled{board_id(1), "b1", {}, "", false});
  farm.submit(3, "ann", {"tag:rack"});
  CHECK(farm.end_of(3) == "unservable");
}

TEST_CASE("a board that describes itself anew is matched anew") {
  Farm farm;
  farm.submit(1, "ann", {"b1"});
  farm.submit(2, "ben", {"rpi4"});
  farm::BoardJoined again = farm.joining(1, 101);
  again.description.model = "rpi5";
  again.serving = farm.serving.at(board_link(1));
  farm.handle(again);
  CHECK(farm.is_granted(1));
  CHECK(farm.end_of(2) == "no_longer_servable");
}

}  // namespace
}  // namespace ferry::test
