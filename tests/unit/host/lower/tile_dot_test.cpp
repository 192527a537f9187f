// Tests of products of AMX's tiles: equal results as loops, what the passes make of them, and messages that name the
// obstacle. programs_test runs them on machines that have tiles.
#include "crosscompile/passes/tensorize/tile_dot.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/ir/visitor.h"
#include "crosscompile/target/resolve.h"
#include "tests/support/schedules/scheduled.h"

#include <doctest/doctest.h>

#include <string>

using namespace ferry;
using namespace ferry::test;

namespace {

std::string product(const std::string& left, const std::string& right, const std::string& sum, const std::string& m,
                    int k, int n) {
  const std::string depth = std::to_string(k), columns = std::to_string(n);
  return "def mm(" + left + "(" + m + "," + depth + ") A, " + right + "(" + depth + "," + columns +
         ") B) -> (C) { C(m,n) +=! " + sum + "(A(m,k)) * " + sum + "(B(k,n)) }";
}

std::string packed(int panel, int group) {
  const std::string n = std::to_string(panel), g = std::to_string(group);
  return "B: cache_read global -> P\nP: transform_layout (k, n) -> (n / " + n + ", k / " + g + ", n % " + n + ", k % " +
         g + ")\n";
}

// Two tiles of rows, or more, by two of columns, with sums over 16 groups at a time.
std::string in_tiles(int group, const std::string& order = "mt mi nt ni kg ki", int row_tiles = 2) {
  const std::string g = std::to_string(group);
  return packed(32, group) + "C: split m " + std::to_string(16 * row_tiles) +
         " -> mo mr\nsplit mr 16 -> mt mi\nsplit n 32 -> no nr\nsplit nr 16 -> nt ni\n" + "split k " +
         std::to_string(16 * group) + " -> ko kr\nsplit kr " + g + " -> kg ki\nreorder mo no ko " + order +
         "\ntensorize " + order.substr(0, 2) + " tile_dot";
}

const Target& with_tiles() {
  static const Target target = resolve_target("llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=sapphirerapids");
  return target;
}

class Tiles : public ir::Visitor {
 public:
  int sums = 0, dots = 0, outside = 0, from_zero = 0;
  std::vector<std::string> rows;

 protected:
  using ir::Visitor::visit_node;
  void visit_node(const ir::InstructionStmt& node) override {
    const bool holds = node.instruction == ir::Instruction::tile_sums;
    if (holds) {
      ++sums;
      from_zero += passes::starts_at_zero(node) ? 1 : 0;
      for (const ir::Expr& count : passes::sum_tiles(node).rows) rows.push_back(ir::to_text(count));
    } else if (node.instruction == ir::Instruction::tile_dot) {
      ++dots;
      outside += inside_ ? 0 : 1;
    }
    inside_ = holds;
    ir::Visitor::visit_node(node);
    inside_ = false;
  }

 private:
  bool inside_ = false;
};

Tiles tiles_of(const std::string& source, const std::string& schedule) {
  Tiles tiles;
  tiles.visit(compiled(source, schedule, with_tiles()).body);
  return tiles;
}

std::string mismatch(const std::string& source, const std::string& schedule) {
  try {
    (void)compiled(source, schedule, with_tiles());
  } catch (const std::exception& error) {
    return error.what();
  }
  return "none";
}

const std::string kBytes = product("uint8", "int8", "int", "M", 128, 64);

}  // namespace

TEST_CASE("products of tiles are what their loops compute, for all types and numbers of rows") {
  for (const auto& [left, right] :
       {std::pair("uint8", "int8"), std::pair("int8", "uint8"), std::pair("int8", "int8"), std::pair("uint8", "uint8")})
    for (const int m : {1, 15, 16, 17, 31, 33, 49})
      check_schedule(product(left, right, "int", std::to_string(m), 128, 32), in_tiles(4));
  for (const std::int64_t m : {0, 1, 16, 37}) check_schedule(kBytes, in_tiles(4), {{"M", m}});
  check_schedule(product("int8", "int8", "int", "20", 64, 64), in_tiles(4, "kg mt mi nt ni ki"));
}

TEST_CASE("more tiles of rows are products with one tile of columns") {
  const std::string tall = packed(16, 4) +
                           "C: split m 64 -> mo mr\nsplit mr 16 -> mt mi\nsplit n 16 -> no ni\nsplit k 64 -> ko kr\n"
                           "split kr 4 -> kg ki\nreorder no mo ko mt mi ni kg ki\ntensorize mt tile_dot";
  for (const std::int64_t m : {0, 1, 33, 64, 100}) check_schedule(kBytes, tall, {{"M", m}});
  const Tiles tiles = tiles_of(product("uint8", "int8", "int", "49", 128, 16), tall);
  CHECK(tiles.sums == 1);
  CHECK(tiles.rows == std::vector<std::string>{"16", "16", "16", "1"});
}

TEST_CASE("the sums stay in tiles through the loop over the depth and start from zero") {
  const Tiles open = tiles_of(kBytes, in_tiles(4));
  CHECK(open.sums >= 1);
  CHECK(open.dots == open.sums);
  CHECK(open.outside == 0);
  CHECK(open.from_zero >= 1);
  const Tiles known = tiles_of(product("uint8", "int8", "int", "64", 128, 64), in_tiles(4));
  CHECK(known.sums == 1);
  CHECK(known.rows == std::vector<std::string>{"16", "16"});
  CHECK(known.from_zero == 1);
  // The single product of a short sum is in a tile_sums too.
  const Tiles single = tiles_of(product("uint8", "int8", "int", "64", 64, 64), in_tiles(4));
  CHECK(single.dots == 1);
  CHECK(single.outside == 0);
  CHECK(single.from_zero == 1);
}

TEST_CASE("the last tile of rows has fewer of them") {
  const Tiles tiles = tiles_of(product("uint8", "int8", "int", "37", 128, 64), in_tiles(4));
  CHECK(std::ranges::find(tiles.rows, "5") != tiles.rows.end());
  CHECK(std::ranges::find(tiles.rows, "0") != tiles.rows.end());
}

TEST_CASE("targets without tiles, or without tiles of the type, compute the loops") {
  const std::string brains = product("bfloat16", "bfloat16", "float", "M", 64, 64);
  for (const char* target :
       {"x86-64-v4", "llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=sapphirerapids -mattr=-amx-bf16"}) {
    Tiles tiles;
    tiles.visit(compiled(brains, in_tiles(2), resolve_target(target)).body);
    CHECK(tiles.sums == 0);
    CHECK(tiles.dots == 0);
  }
  CHECK(tiles_of(brains, in_tiles(2)).dots >= 1);
}

TEST_CASE("a nest that is no product of tiles is refused with the reason") {
  CHECK(
      mismatch(product("float", "float", "float", "M", 64, 32), in_tiles(2))
          .find("tensorize tile_dot: expected a sum in int32 of products of bytes, int(A[m, k]) * int(B[k, n]), or one "
                "in float32 of products of bfloat16, got '") != std::string::npos);
  // B is not packed.
  const std::string schedule = in_tiles(4);
  CHECK(mismatch(kBytes, schedule.substr(schedule.find("C: split m"))) ==
        "tensorize tile_dot: expected the elements of 'B' to be 1 apart along 'ki', got 64");
  CHECK(mismatch(product("uint8", "int8", "int", "M", 96, 64), in_tiles(4))
            .find("tensorize tile_dot: expected every iteration of 'kg' to count, got '") == 0);
  CHECK(mismatch(kBytes, packed(32, 4) +
                             "C: split m 8 -> mo mi\nsplit n 32 -> no ni\nsplit k 64 -> ko kr\nsplit kr 4 -> "
                             "kg ki\nreorder mo no ko mi ni kg ki\ntensorize mi tile_dot") ==
        "tensorize tile_dot: expected one or two tiles of 16 columns, got loops (ni in 32)");
  CHECK(mismatch(kBytes, packed(16, 4) +
                             "C: split m 24 -> mo mi\nsplit n 16 -> no ni\nsplit k 64 -> ko kr\nsplit kr 4 -> "
                             "kg ki\nreorder mo no ko mi ni kg ki\ntensorize mi tile_dot") ==
        "tensorize tile_dot: expected at most four tiles of at most 16 rows, got loops (mi in 24)");
  CHECK(mismatch(kBytes, packed(16, 4) +
                             "C: split m 16 -> mo mi\nsplit n 16 -> no ni\nsplit k 128 -> ko kr\nsplit kr 4 "
                             "-> kg ki\nreorder mo no ko mi ni kg ki\ntensorize mi tile_dot") ==
        "tensorize tile_dot: expected a sum of at most 16 groups of 4, got loops (kg in 32, ki in 4)");
  CHECK(
      mismatch(kBytes, in_tiles(4, "mt mi nt ni kg ki", 4)) ==
      "tensorize tile_dot: expected one tile of 16 columns for more than two tiles of rows, got loops (nt in 2, ni in "
      "16)");
}
