// Boards that call themselves by the names of other boards.
#include <doctest/doctest.h>

#include "tests/unit/farm/core/lease/machine_driver.h"

namespace ferry::test {
namespace {

farm::BoardJoined claiming(const MachineDriver& farm, std::uint64_t number, const std::string& model,
                           const std::map<std::string, std::string>& tags = {}) {
  farm::BoardJoined joined = farm.joining(number, number);
  joined.description.model = model;
  joined.description.tags = tags;
  return joined;
}

std::vector<std::string> refused(const MachineDriver& farm) {
  std::vector<std::string> names;
  for (const auto& one : farm.sent<farm::ClaimsRefused>())
    names.insert(names.end(), one.names.begin(), one.names.end());
  return names;
}

const farm::BoardDescription& description(const MachineDriver& farm, std::uint64_t number) {
  return farm.machine->find_board(board_id(number))->record->description;
}

TEST_CASE("a name gets its own board, whatever others call themselves") {
  MachineDriver farm;
  farm.enrol(1);
  farm.enrol(2);
  farm.handle(claiming(farm, 2, "b1", {{"b1", "yes"}, {"bench", ""}}));
  CHECK(refused(farm) == std::vector<std::string>{"b1", "b1"});
  CHECK(description(farm, 2).model.empty());
  CHECK(description(farm, 2).tags == std::map<std::string, std::string>{{"bench", ""}});
  CHECK(farm.store.board(board_id(2)).description == description(farm, 2));
  for (const std::uint64_t id : {1, 2, 3, 4}) {
    const char* const selectors[] = {"b1", "name=b1", "model=b1", "tag:b1"};
    farm.submit(id, "ann", {selectors[id - 1]});
    CHECK(!farm.is_granted(id));
  }
  CHECK(farm.end_of(3) == "unservable");
  CHECK(farm.end_of(4) == "unservable");
  farm.join(1);
  CHECK(farm.boards_of(1) == std::vector<std::uint64_t>{1});
}

TEST_CASE("a name that is enrolled later is taken from those who called themselves so") {
  MachineDriver farm;
  farm.enrol(2);
  farm.handle(claiming(farm, 2, "b1", {{"b3", ""}}));
  farm.submit(1, "ann", {"b1"});
  REQUIRE(farm.boards_of(1) == std::vector<std::uint64_t>{2});
  farm.submit(2, "bob", {"b1"});
  farm.submit(3, "bob", {"b3"});
  farm.enrol(1);
  farm.enrol(3);
  CHECK(refused(farm) == std::vector<std::string>{"b1", "b3"});
  CHECK(farm.store.board(board_id(2)).description == description(farm, 2));
  farm.handle(farm::LeaseReleased{lease_id(1)});
  CHECK(!farm.is_granted(2));
  CHECK(!farm.is_granted(3));
  farm.join(1);
  farm.join(3);
  CHECK(farm.boards_of(2) == std::vector<std::uint64_t>{1});
  CHECK(farm.boards_of(3) == std::vector<std::uint64_t>{3});
}

TEST_CASE("a board keeps what it says of itself where that is no other board's name") {
  MachineDriver farm;
  farm.enrol(1);
  farm.enrol(2);
  farm.handle(claiming(farm, 1, "b1", {{"b1", ""}, {"b10", ""}, {"B2", ""}}));
  CHECK(refused(farm).empty());
  CHECK(description(farm, 1).model == "b1");
  CHECK(description(farm, 1).tags.size() == 3);
}

TEST_CASE("the name of a retired board stays its own") {
  MachineDriver farm;
  farm.enrol(1);
  farm.enrol(2);
  farm.handle(farm::BoardOrdered{board_id(1), farm::BoardOrder::retire});
  farm.handle(claiming(farm, 2, "b1"));
  farm.submit(1, "ann", {"b1"});
  CHECK(farm.end_of(1) == "unservable");
}

TEST_CASE("tags that an admin gives do not stand for another board either") {
  MachineDriver farm;
  farm.enrol(1);
  farm.handle(farm::BoardEnrolled{board_id(2), "b2", {{"b1", ""}, {"bench", ""}}, "", false});
  farm.join(2);
  CHECK(refused(farm) == std::vector<std::string>{"b1", "b1"});
  farm.submit(1, "ann", {"b1"});
  CHECK(!farm.is_granted(1));
  farm.submit(2, "ann", {"bench"});
  CHECK(farm.is_granted(2));
}

TEST_CASE("claims that an earlier tracker has taken do not count after a restart") {
  MachineDriver farm;
  farm.enrol(1);
  farm.enrol(2);
  farm::BoardRecord record = farm.store.board(board_id(2));
  record.description.tags["b1"] = "";
  record.description.model = "b1";
  farm.store.apply(farm::Record(record));
  farm.restart();
  farm.submit(1, "ann", {"b1"});
  farm.join(2);
  CHECK(!farm.is_granted(1));
  farm.join(1);
  CHECK(farm.boards_of(1) == std::vector<std::uint64_t>{1});
}

}  // namespace
}  // namespace ferry::test
