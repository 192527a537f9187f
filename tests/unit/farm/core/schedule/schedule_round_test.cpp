// Tests which of the waiting requests start.
#include "farm/core/schedule/schedule_round.h"

#include <doctest/doctest.h>

#include "tests/unit/farm/core/schedule/small_farm.h"

namespace ferry::test {
namespace {

using Boards = std::vector<std::uint32_t>;
using std::chrono::minutes;

TEST_CASE("the request with the highest priority gets the board") {
  SmallFarm farm(1);
  farm.make_available(0);
  farm.ask({{0}}).priority = 50;
  farm.ask({{0}}).priority = 51;
  CHECK(farm.plan() == std::vector<Boards>{{}, {0}});
}

TEST_CASE("the effective priority rises by 1 a minute") {
  SmallFarm farm(1);
  farm.make_available(0);
  farm::WaitingRequest& patient = farm.ask({{0}});
  farm::WaitingRequest& urgent = farm.ask({{0}});
  urgent.priority = 30;
  patient.submitted = farm.now() - minutes(29);
  CHECK(farm.plan() == std::vector<Boards>{{}, {0}});
  patient.submitted = farm.now() - minutes(31);
  CHECK(farm.plan() == std::vector<Boards>{{0}, {}});
}

TEST_CASE("of equal priorities the holder comes first who has used less, then the older request") {
  SmallFarm farm(1);
  farm.make_available(0);
  farm::WaitingRequest& first = farm.ask({{0}});
  farm::WaitingRequest& second = farm.ask({{0}});
  second.submitted += std::chrono::seconds(1);
  CHECK(farm.plan() == std::vector<Boards>{{0}, {}});
  first.share = 20;
  second.share = 10;
  CHECK(farm.plan() == std::vector<Boards>{{}, {0}});
}

TEST_CASE("a request that may get either board leaves the only one of another request to it") {
  SmallFarm farm(2);
  farm.make_available(0);
  farm.make_available(1);
  farm.ask({{0, 1}}).priority = 10;
  farm.ask({{0}});
  CHECK(farm.plan() == std::vector<Boards>{{1}, {0}});
}

TEST_CASE("a request for several boards gets all or none") {
  SmallFarm farm(3);
  farm.make_available(0);
  farm.make_available(1);
  farm.ask({{0}, {1}, {2}});
  CHECK(farm.plan() == std::vector<Boards>{{}});
  farm.make_available(2);
  CHECK(farm.plan() == std::vector<Boards>{{0, 1, 2}});
}

TEST_CASE("slots of one request are matched by augmenting paths too") {
  SmallFarm farm(3);
  for (std::uint32_t board = 0; board < 3; ++board) farm.make_available(board);
  farm.ask({{0, 1, 2}, {0, 1}, {0}});
  CHECK(farm.plan() == std::vector<Boards>{{2, 1, 0}});
}

TEST_CASE("boards of one machine exclude each other") {
  SmallFarm farm(farm::Units{{0, 0, 1}, {{0, 1}, {2}}});
  for (std::uint32_t board = 0; board < 3; ++board) farm.make_available(board);
  farm.ask({{0}});
  farm.ask({{1}});
  farm.ask({{1, 2}});
  CHECK(farm.plan() == std::vector<Boards>{{0}, {}, {2}});
}

TEST_CASE("the first request for several boards holds those that are free") {
  SmallFarm farm(2);
  farm.make_available(0);
  farm.in_use_until(1, 1030);
  farm.ask({{0}, {1}}).priority = 10;
  farm.ask({{0}}, 60);
  CHECK(farm.plan() == std::vector<Boards>{{}, {}});
}

TEST_CASE("others use held boards if their leases end before the expected start") {
  SmallFarm farm(2);
  farm.make_available(0);
  farm.in_use_until(1, 1030);
  farm.ask({{0}, {1}}).priority = 10;
  farm.ask({{0}}, 31);
  farm.ask({{0}}, 30);
  CHECK(farm.plan() == std::vector<Boards>{{}, {}, {0}});
}

TEST_CASE("a request that may get other boards leaves the held ones alone") {
  SmallFarm farm(3);
  farm.make_available(0);
  farm.make_available(1);
  farm.in_use_until(2, 1030);
  farm.ask({{0, 1}, {2}}).priority = 10;
  farm.ask({{0}}, 60);
  CHECK(farm.plan() == std::vector<Boards>{{}, {0}});
}

TEST_CASE("a request before the one that collects takes what it needs") {
  SmallFarm farm(2);
  farm.make_available(0);
  farm.in_use_until(1, 1030);
  farm.ask({{0}, {1}});
  farm.ask({{0}}, 60).priority = 10;
  CHECK(farm.plan() == std::vector<Boards>{{}, {0}});
}

TEST_CASE("a holder's further request does not wait behind himself") {
  SmallFarm farm(2);
  farm.make_available(0);
  farm.in_use_until(1, 1030);
  farm::WaitingRequest& first = farm.ask({{0}, {1}});
  first.priority = 10;
  farm.ask({{0}}, 60).holder = first.holder;
  CHECK(farm.plan() == std::vector<Boards>{{}, {0}});
}

TEST_CASE("nothing is held for a request whose other board is not expected back") {
  SmallFarm farm(2);
  farm.make_available(0);
  farm.ask({{0}, {1}}).priority = 10;
  farm.ask({{0}}, 60);
  CHECK(farm.plan() == std::vector<Boards>{{}, {0}});
}

TEST_CASE("a request that holds nothing leaves collecting to the next") {
  SmallFarm farm(4);
  farm.make_available(0);
  farm.make_available(2);
  farm.in_use_until(3, 1030);
  farm.ask({{0}, {1}}).priority = 10;
  farm.ask({{2}, {3}}).priority = 9;
  farm.ask({{2}}, 60);
  farm.ask({{0}}, 60);
  CHECK(farm.plan() == std::vector<Boards>{{}, {}, {}, {0}});
}

TEST_CASE("only one request collects") {
  SmallFarm farm(4);
  farm.make_available(0);
  farm.make_available(2);
  farm.in_use_until(1, 1030);
  farm.in_use_until(3, 1030);
  farm.ask({{0}, {1}}).priority = 10;
  farm.ask({{2}, {3}}).priority = 9;
  farm.ask({{2}}, 60);
  CHECK(farm.plan() == std::vector<Boards>{{}, {}, {2}});
}

TEST_CASE("a lease that starts in the same round counts for the expected start") {
  SmallFarm farm(1);
  farm.make_available(0);
  farm.ask({{0}}, 60).priority = 20;
  farm.ask({{0}, {0}}).priority = 10;
  CHECK(farm.plan() == std::vector<Boards>{{0}, {}});
  SmallFarm two(2);
  two.make_available(0);
  two.make_available(1);
  two.ask({{0}}, 60).priority = 20;
  two.ask({{0}, {1}}).priority = 10;
  two.ask({{1}}, 60);
  two.ask({{1}}, 61).priority = 1;
  CHECK(two.plan() == std::vector<Boards>{{0}, {}, {1}, {}});
}

}  // namespace
}  // namespace ferry::test
