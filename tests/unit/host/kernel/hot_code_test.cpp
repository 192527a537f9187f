#include "host/kernel/hot_code.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/support/seeded.h"

using namespace ferry;

namespace {

// Returns a function of so many instructions with these branches: from, to.
MachineFunction function_of(std::size_t size, std::initializer_list<std::pair<std::size_t, std::size_t>> branches,
                            const std::string& name = "f") {
  MachineFunction function{name, {}};
  for (std::size_t i = 0; i < size; ++i) function.instructions.push_back({"i" + std::to_string(i), {}});
  for (const auto& [from, to] : branches) function.instructions[from] = {"jump", to};
  return function;
}

using Loops = std::vector<CodeLoop>;

// Tries every pair of loops.
Loops innermost_by_definition(const MachineFunction& function) {
  std::set<std::pair<std::size_t, std::size_t>> loops;
  for (std::size_t header = 0; header < function.instructions.size(); ++header) {
    for (std::size_t i = function.instructions.size(); i-- > header;) {
      if (function.instructions[i].target == header) {
        loops.insert({header, i});
        break;
      }
    }
  }
  Loops innermost;
  for (const auto& [first, last] : loops) {
    const bool contains_one = std::ranges::any_of(loops, [&, first = first, last = last](const auto& other) {
      return other.first >= first && other.second <= last && other != std::pair(first, last);
    });
    if (!contains_one) innermost.push_back({first, last});
  }
  return innermost;
}

}  // namespace

TEST_CASE("a loop ends at the last branch back to its head, and forward branches make none") {
  CHECK(innermost_loops(function_of(5, {})).empty());
  CHECK(innermost_loops(function_of(5, {{0, 4}, {1, 3}})).empty());
  CHECK(innermost_loops(function_of(8, {{3, 1}, {5, 1}})) == Loops{{1, 5}});
  CHECK(innermost_loops(function_of(3, {{2, 2}})) == Loops{{2, 2}});
  CHECK(innermost_loops(function_of(1, {{0, 0}})) == Loops{{0, 0}});
}

TEST_CASE("loops around others are not innermost") {
  CHECK(innermost_loops(function_of(10, {{8, 1}, {4, 2}, {7, 5}})) == Loops{{2, 4}, {5, 7}});
  CHECK(innermost_loops(function_of(10, {{9, 0}, {8, 1}, {7, 2}})) == Loops{{2, 7}});
  // Both end at the same place, or begin there.
  CHECK(innermost_loops(function_of(10, {{8, 0}, {7, 3}, {8, 3}})) == Loops{{3, 8}});
}

TEST_CASE("the innermost loops of random code are those that contain no other") {
  test::Seeded seeded(1);
  for (int round = 0; round < 2000; ++round) {
    MachineFunction function = function_of(1 + seeded.draw() % 12, {});
    for (MachineInstruction& instruction : function.instructions) {
      if (seeded.draw() % 3 == 0) instruction.target = seeded.draw() % function.instructions.size();
    }
    const Loops found = innermost_loops(function), expected = innermost_by_definition(function);
    if (found != expected) FAIL_CHECK("round " << round << ": " << code_text(std::vector{function}));
  }
}

TEST_CASE("the hottest functions are those with the largest innermost loops") {
  const std::vector functions = {function_of(50, {}, "straight"), function_of(50, {{9, 5}}, "small"),
                                 function_of(50, {{40, 1}, {30, 10}}, "large"), function_of(9, {{6, 0}}, "middle")};
  CHECK(hottest_functions(functions, 2) == std::vector<std::string>{"large", "middle"});
  CHECK(hottest_functions(functions, 9) == std::vector<std::string>{"large", "middle", "small"});
  CHECK(hottest_functions({}, 3).empty());
}

TEST_CASE("a loop is shown with labels, and what leads out of it is not one") {
  const std::vector functions = {function_of(12, {{3, 7}, {4, 1}, {5, 2}, {9, 2}})};
  const std::vector<std::string> names = {"f", "missing"};
  CHECK(hot_text(functions, names) ==
        "f: a loop of 4 instructions in the code of one iteration\n"
        "L1:\n  i1\n  i2\n  jump behind\n  jump L1\n"
        "f: a loop of 8 instructions in the code of one iteration\n"
        "L1:\n  i2\n  jump L2\n  jump before\n  jump L1\n  i6\nL2:\n  i7\n  i8\n  jump L1\n");
}

TEST_CASE("labels are numbered by place and small loops beside a large one are left out") {
  const std::vector functions = {function_of(30, {{3, 6}, {4, 8}, {9, 2}, {20, 20}, {25, 22}})};
  const std::vector<std::string> names = {"f"};
  CHECK(hot_text(functions, names) ==
        "f: a loop of 8 instructions in the code of one iteration\n"
        "L1:\n  i2\n  jump L2\n  jump L3\n  i5\nL2:\n  i6\n  i7\nL3:\n  i8\n  jump L1\n"
        "f: a loop of 4 instructions in the code of one iteration\n"
        "L1:\n  i22\n  i23\n  i24\n  jump L1\n");
}

TEST_CASE("code without instructions has a name") {
  CHECK(code_text(std::vector{function_of(0, {}, "empty"), function_of(1, {}, "one")}) == "empty:\none:\n  i0\n");
}
