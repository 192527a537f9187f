// Compares the matching with all possible ones, at sizes where these can be counted.
#include "farm/core/schedule/matching.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <set>

#include "tests/support/seeded.h"
#include "tests/unit/farm/core/schedule/small_farm.h"

namespace ferry::test {
namespace {

// Whether all these slots can have boards at once, found by trying every choice.
bool can_match(const std::deque<farm::BoardSet>& slots, std::vector<std::size_t> chosen, const farm::Units& units,
               std::set<std::uint32_t> used = {}) {
  if (chosen.empty()) return true;
  const farm::BoardSet& slot = slots[chosen.back()];
  chosen.pop_back();
  for (std::uint32_t board = 0; board < units.unit_of.size(); ++board) {
    if (!slot.contains(board) || used.contains(units.unit_of[board])) continue;
    std::set<std::uint32_t> with = used;
    with.insert(units.unit_of[board]);
    if (can_match(slots, chosen, units, with)) return true;
  }
  return false;
}

TEST_CASE("a slot is placed exactly if all placed slots and it can have boards at once") {
  Seeded seeded(7);
  std::size_t placed_count = 0, refused_count = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::uint32_t boards = 1 + seeded.draw() % 6;
    farm::Units units;
    for (std::uint32_t board = 0; board < boards; ++board) {
      // Sometimes a board shares the machine of the one before.
      if (board == 0 || seeded.draw() % 4 != 0) units.boards_of.emplace_back();
      units.boards_of.back().push_back(board);
      units.unit_of.push_back(static_cast<std::uint32_t>(units.boards_of.size() - 1));
    }
    farm::BoardSet available;
    for (std::uint32_t board = 0; board < boards; ++board) available.set(board);
    std::deque<farm::BoardSet> slots;
    farm::Matching matching(units);
    std::vector<std::size_t> placed;
    for (std::size_t i = 0; i < 6; ++i) {
      farm::BoardSet& slot = slots.emplace_back();
      for (std::uint32_t board = 0; board < boards; ++board) slot.set(board, seeded.draw() % 3 == 0);
      REQUIRE(matching.add({&slot, &available}) == i);
      placed.push_back(i);
      const bool possible = can_match(slots, placed, units);
      REQUIRE(matching.place(static_cast<std::uint32_t>(i)) == possible);
      if (!possible) placed.pop_back();
      ++(possible ? placed_count : refused_count);
      // Now and then a slot leaves.
      if (!placed.empty() && seeded.draw() % 5 == 0) {
        matching.vacate(static_cast<std::uint32_t>(placed.front()));
        placed.erase(placed.begin());
      }
      std::set<std::uint32_t> used;
      for (const std::size_t one : placed) {
        const auto board = matching.board_of(static_cast<std::uint32_t>(one));
        REQUIRE(board);
        CHECK(slots[one].contains(*board));
        CHECK(used.insert(units.unit_of[*board]).second);
      }
      CHECK(matching.occupied() == placed.size());
    }
  }
  CHECK(placed_count > 1000);
  CHECK(refused_count > 1000);
}

TEST_CASE("a slot takes a held board only if it is allowed to, and then no other slot loses its own") {
  const farm::Units units = separate_units(2);
  const farm::BoardSet all = set_of({0, 1}), first = set_of({0});
  farm::Matching matching(units);
  const auto held = matching.add({&all, &all}), other = matching.add({&all, &all}), late = matching.add({&first, &all});
  matching.set_held(held, true);
  REQUIRE(matching.place(held));
  REQUIRE(matching.place(other));
  CHECK(!matching.place(late));
  CHECK(matching.place(late, true));
  CHECK(matching.board_of(late) == 0U);
  CHECK(matching.board_of(other) == 1U);
  CHECK(!matching.board_of(held));
}

TEST_CASE("a slot whose board is held by another moves before the held one is taken along a longer path") {
  const farm::Units units = separate_units(3);
  const farm::BoardSet all = set_of({0, 1, 2}), low = set_of({0, 1}), first = set_of({0}), last = set_of({2});
  farm::Matching matching(units);
  const auto a = matching.add({&low, &all}), b = matching.add({&all, &all}), held = matching.add({&last, &all});
  matching.set_held(held, true);
  REQUIRE(matching.place(a));
  REQUIRE(matching.place(b));
  REQUIRE(matching.place(held));
  const auto late = matching.add({&first, &all});
  CHECK(!matching.place(late));
  REQUIRE(matching.place(late, true));
  CHECK(matching.board_of(late) == 0U);
  CHECK(matching.board_of(a) == 1U);
  CHECK(matching.board_of(b) == 2U);
  CHECK(!matching.board_of(held));
}

}  // namespace
}  // namespace ferry::test
