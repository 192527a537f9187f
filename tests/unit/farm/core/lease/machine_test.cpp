// Tests which boards are on one machine, and that of these only one is leased at a time.
#include <doctest/doctest.h>

#include "farm/core/lease/boards.h"
#include "tests/unit/farm/core/lease/machine_driver.h"

namespace ferry::test {
namespace {

constexpr std::uint64_t kHost = 77'000, kOther = 88'000;

struct Farm : MachineDriver {
  explicit Farm(bool has_health_checks = false) : MachineDriver(has_health_checks) {
    for (std::uint64_t number = 1; number <= 3; ++number) enrol(number);
  }
  // Joins on a new connection.
  void join_from(std::uint64_t number, std::uint64_t boot_id) {
    farm::BoardJoined joined = joining(number, ++last_link_);
    joined.boot_id = boot_id;
    handle(joined);
    links_[number] = joined.connection;
  }
  void leave(std::uint64_t number) { handle(farm::BoardLeft{links_.at(number)}); }
  void release(std::uint64_t id) { handle(farm::LeaseReleased{lease_id(id)}); }
  std::optional<farm::BoardId> leased_neighbour(std::uint64_t number) const {
    return machine->find_board(board_id(number))->leased_neighbour;
  }
  std::vector<farm::BoardId> boards_on_same_machine(std::uint64_t number) const {
    return machine->boards_on_same_machine(board_id(number), 10);
  }

 private:
  std::uint64_t last_link_ = 100;
  std::map<std::uint64_t, farm::BoardConnection> links_;
};

TEST_CASE("boards that report the same boot id are on one machine and exclude each other") {
  Farm farm;
  farm.join_from(1, kHost);
  farm.join_from(2, kHost);
  farm.join_from(3, kOther);
  farm.submit(1, "ann", {"b1"});
  farm.submit(2, "ben", {"b2"});
  farm.submit(3, "cem", {"b3"});
  CHECK(farm.is_granted(1));
  CHECK(!farm.is_granted(2));
  CHECK(farm.is_granted(3));
  CHECK(farm.boards_on_same_machine(1) == std::vector{board_id(2)});
  CHECK(farm.boards_on_same_machine(3).empty());
  CHECK(farm.leased_neighbour(2) == board_id(1));
  CHECK(!farm.leased_neighbour(1));
  farm.release(1);
  CHECK(farm.is_granted(2));
}

TEST_CASE("a board that may share its machine is leased together with the others") {
  Farm farm;
  farm.enrol(2, "", true);
  for (std::uint64_t number = 1; number <= 3; ++number) farm.join_from(number, kHost);
  farm.submit(1, "ann", {"b1"});
  farm.submit(2, "ben", {"b2"});
  farm.submit(3, "cem", {"b3"});
  CHECK(farm.is_granted(1));
  CHECK(farm.is_granted(2));
  CHECK(!farm.is_granted(3));
}

TEST_CASE("the machine that an admin names wins over the boot id") {
  Farm farm;
  farm.enrol(2, "shelf-2");
  farm.enrol(3, "shelf-2");
  farm.join_from(1, kHost);
  farm.join_from(2, kHost);
  farm.join_from(3, kOther);
  farm.submit(1, "ann", {"b1"});
  farm.submit(2, "ben", {"b2"});
  farm.submit(3, "cem", {"b3"});
  CHECK(farm.is_granted(1));
  CHECK(farm.is_granted(2));
  CHECK(!farm.is_granted(3));
  farm.enrol(3);
  farm.pass(minutes(1));
  CHECK(farm.is_granted(3));
}

TEST_CASE("boards that do not know their boot id exclude nobody") {
  Farm farm;
  farm.join_from(1, 0);
  farm.join_from(2, 0);
  farm.submit(1, "ann", {"b1"});
  farm.submit(2, "ben", {"b2"});
  CHECK(farm.is_granted(1));
  CHECK(farm.is_granted(2));
}

TEST_CASE("a health check waits until no other board of the machine is leased, and the other way round") {
  Farm farm(true);
  farm.join_from(1, kHost);
  farm.join_from(2, kHost);
  farm.handle(farm::HealthChecked{board_id(1), true});
  farm::Request check = farm.request(1, "health check", {"b2"});
  check.is_health_check = true;
  farm.submit(2, "ann", {"b1"});
  farm.submit(check);
  CHECK(farm.is_granted(2));
  CHECK(!farm.is_granted(1));
  farm.release(2);
  CHECK(farm.is_granted(1));
  farm.submit(3, "ann", {"b1"});
  CHECK(!farm.is_granted(3));
  farm.handle(farm::HealthChecked{board_id(2), true});
  farm.release(1);
  CHECK(farm.is_granted(3));
}

TEST_CASE("a request for two boards of one machine is refused with their names") {
  Farm farm;
  farm.join_from(1, kHost);
  farm.join_from(2, kHost);
  farm.submit(1, "ann", {"b1", "b2"});
  CHECK(farm.end_of(1) == "unservable");
  CHECK(farm.ended.at(lease_id(1)).text ==
        "expected 2 boards that can be used at the same time for 'b1' and 'b2', got 1: b1 and b2 are on one machine, "
        "whose boards are leased one at a time");
  // Here the machine is not what is wrong.
  farm.submit(2, "ann", {"b3", "b3"});
  CHECK(farm.ended.at(lease_id(2)).text ==
        "expected 2 boards that can be used at the same time for 'b3' and 'b3', got 1");
}

TEST_CASE("a request that waits for two boards is answered when they turn out to be on one machine") {
  Farm farm;
  farm.join_from(1, kHost);
  farm.join_from(2, kOther);
  farm.submit(1, "ann", {"b1"});
  farm.submit(2, "ben", {"b1", "b2"});
  farm.leave(2);
  farm.join_from(2, kHost);
  CHECK(farm.is_granted(1));
  CHECK(farm.end_of(2) == "no_longer_servable");
}

TEST_CASE("boards find each other again after their machine has started again, also under another tracker") {
  Farm farm;
  farm.join_from(1, kHost);
  farm.join_from(2, kHost);
  for (const std::uint64_t number : {1, 2}) {
    farm.leave(number);
    farm.join_from(number, kOther);
  }
  farm.submit(1, "ann", {"b1"});
  farm.submit(2, "ben", {"b2"});
  CHECK(farm.is_granted(1));
  CHECK(!farm.is_granted(2));
  // Its lease goes on, though the board has not joined yet.
  farm.restart();
  farm.handle(farm::RequestAttached{client_link(2), farm.request(2, "ben", {"b2"}), false});
  farm.join_from(2, kOther);
  CHECK(!farm.is_granted(2));
  CHECK(farm.leased_neighbour(2) == board_id(1));
}

TEST_CASE("a lease is not extended while somebody waits for another board of the machine, unless that is a check") {
  Farm farm;
  farm.join_from(1, kHost);
  farm.join_from(2, kHost);
  farm.submit(1, "ann", {"b1"});
  farm::Request check = farm.request(2, "health check", {"b2"});
  check.is_health_check = true;
  farm.submit(check);
  farm.handle(farm::ExtensionRequested{lease_id(1), minutes(20)});
  CHECK(farm.sent<farm::TellExtension>().back().refusal.empty());
  farm.submit(3, "ben", {"b2"});
  farm.handle(farm::ExtensionRequested{lease_id(1), minutes(30)});
  CHECK(farm.sent<farm::TellExtension>().back().refusal == "others wait for the board");
}

TEST_CASE("who waits is told the board of the same machine that he waits for, and his place among all of them") {
  Farm farm;
  farm.join_from(1, kHost);
  farm.join_from(2, kHost);
  farm.join_from(3, kOther);
  farm.submit(1, "ann", {"b1"});
  farm.submit(2, "ben", {"b1"});
  farm.submit(3, "cem", {"b2"});
  farm.submit(4, "dee", {"b3"});
  farm.submit(5, "eve", {"b3"});
  const std::vector<farm::QueuedRequest> queue = farm.machine->queue(farm.now);
  REQUIRE(queue.size() == 3);
  for (const farm::QueuedRequest& one : queue) {
    CAPTURE(static_cast<std::uint64_t>(one.id));
    CHECK(one.place == (one.id == lease_id(3) ? 2 : 1));
    CHECK(one.blocked_by == (one.id == lease_id(3) ? std::optional(board_id(1)) : std::nullopt));
  }
}

TEST_CASE("a board that claims another one's boot id takes turns with it and ends no lease") {
  Farm farm;
  farm.join_from(1, kHost);
  farm.submit(1, "ann", {"b1"});
  farm.join_from(3, kHost);
  CHECK(farm.is_granted(1));
  farm.submit(2, "eve", {"b3"});
  CHECK(!farm.is_granted(2));
  farm.release(1);
  CHECK(farm.is_granted(2));
  farm.submit(3, "ann", {"b1"});
  CHECK(!farm.is_granted(3));
  // An admin says where the board is, and what it says does not count any more.
  farm.enrol(1, "shelf-1");
  farm.pass(minutes(1));
  CHECK(farm.is_granted(3));
}

TEST_CASE("a board that is leased and comes to another machine keeps its lease, and who comes next waits for both") {
  Farm farm;
  farm.join_from(1, kHost);
  farm.join_from(2, kOther);
  farm.submit(1, "ann", {"b1"});
  farm.submit(2, "ben", {"b2"});
  farm.leave(2);
  farm::BoardJoined lying = farm.joining(2, 500);
  lying.boot_id = kHost;
  lying.serving = lease::LeaseKey{2, farm.store.board(board_id(2)).last_epoch};
  farm.handle(lying);
  CHECK(farm.is_granted(1));
  CHECK(farm.is_granted(2));
  farm.release(1);
  farm.submit(3, "ann", {"b1"});
  CHECK(!farm.is_granted(3));
  farm.release(2);
  CHECK(farm.is_granted(3));
}

TEST_CASE("a board that changes its boot id again and again takes no more memory") {
  farm::Boards boards;
  for (std::uint64_t number = 0; number < 4; ++number) {
    farm::BoardRecord record;
    record.id = board_id(number);
    boards.add(record);
  }
  for (std::uint64_t boot_id = 1; boot_id <= 1000; ++boot_id) {
    farm::Board& board = *boards.find(board_id(boot_id % 3));
    boards.set_boot_id(board, boot_id / 2);
    boards.set_machine(board, boot_id % 7 == 0 ? "m" + std::to_string(boot_id) : "", boot_id % 11 == 0);
  }
  CHECK(boards.units().boards_of.size() <= 5);
  CHECK(boards.busy_until().size() == boards.units().boards_of.size());
  std::size_t members = 0;
  for (std::uint32_t index = 0; index < boards.size(); ++index)
    for (const std::uint32_t other : boards.unit_of(boards.at(index))) members += other == index;
  CHECK(members == 4);
}

}  // namespace
}  // namespace ferry::test
