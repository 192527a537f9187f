// Compares what the cost model counts with counts by hand.
#include "crosscompile/cost/average.h"
#include "crosscompile/cost/block.h"
#include "crosscompile/cost/estimate.h"
#include "crosscompile/cost/traffic.h"
#include "crosscompile/target/resolve.h"
#include "ferry/lang/text.h"
#include "ferry/operators.h"
#include "host/autoschedule/decide_at.h"
#include "host/lower/lower.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

using namespace ferry;
using cost::Instruction;

namespace {

using Named = std::vector<autoschedule::NamedValue>;

ir::Function lowered(const std::string& text, const std::string& target, const Named& point = {}) {
  const std::vector<lang::Program> programs = lang::parse(text, "test");
  const autoschedule::DecidedSchedule decided =
      autoschedule::decide_at(programs[0], resolve_target(target), {}, point, "test");
  return lower::lower_module(programs, std::span(&decided.schedule, 1)).front();
}

const char* const kProduct = "def mm(float(240,256) A, float(256,512) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";

Named product_tile(const std::string& tile) {
  return {{"C", "tile", tile}, {"C", "pack_columns", "no"}, {"C", "pack_rows", "no"}};
}

// Returns the block of the first loop without loops inside in which multiply-adds are.
cost::Block innermost(const ir::Function& function, const Target& target) {
  const cost::FunctionNest nest = cost::nest_of(function);
  const cost::BufferUses uses = cost::uses_of(nest);
  std::vector<const cost::LoopNest*> path = {&nest.body};
  cost::Block found;
  const std::function<void()> walk = [&] {
    const cost::Block block = cost::block_of(nest, path, uses, target, cost::core_of(target));
    const double multiply_adds = block.counts[static_cast<std::size_t>(Instruction::fma)];
    if (path.back()->inner.empty() && multiply_adds > 0) found = block;
    for (const auto& inner : path.back()->inner) {
      path.push_back(inner.get());
      walk();
      path.pop_back();
    }
  };
  walk();
  return found;
}

double count(const cost::Block& block, Instruction instruction) {
  return block.counts[static_cast<std::size_t>(instruction)];
}

}  // namespace

TEST_CASE("a step of a register tile has its multiply-adds, a load for each vector and one for each row") {
  const Target target = resolve_target("x86-64-v3");
  const cost::Block block = innermost(lowered(kProduct, "x86-64-v3", product_tile("4x2")), target);
  CHECK(count(block, Instruction::fma) == 8);
  CHECK(count(block, Instruction::load) == 2);
  CHECK(count(block, Instruction::broadcast_load) == 4);
  CHECK(count(block, Instruction::store) == 0);
  CHECK(block.registers == 8 + 2 + 1);
  // Each of the sums waits for its own last multiply-add, of four cycles on Zen 3; eight of them take as long.
  CHECK(block.chain == 4);
  CHECK(block.cycles == 4);
}

TEST_CASE("sums that exceed the registers are loaded and stored in each step") {
  const Target target = resolve_target("raspberry-pi-4-32bit");  // 16 registers of four floats
  const cost::Block fits = innermost(lowered(kProduct, "raspberry-pi-4-32bit", product_tile("4x2")), target);
  CHECK(count(fits, Instruction::store) == 0);
  Target fewer = target;
  fewer.vector_registers = 8;
  const cost::Block spilled = innermost(lowered(kProduct, "raspberry-pi-4-32bit", product_tile("4x2")), fewer);
  CHECK(count(spilled, Instruction::store) == 8 + 2 + 1 - 8);
  CHECK(spilled.cycles > fits.cycles);
}

TEST_CASE("an index of a split axis is divided exactly") {
  const ir::Expr outer = ir::Var::make("outer"), middle = ir::Var::make("middle"), inner = ir::Var::make("inner");
  cost::Variables variables;
  variables.extents = {{outer.get(), 8}, {middle.get(), 4}, {inner.get(), 16}};
  const ir::Expr index = outer * 64 + middle * 16 + inner;
  const cost::LinearIndex quotient = cost::linear_index(index / 64, variables);
  CHECK(quotient.is_exact);
  CHECK(quotient.terms.size() == 1);
  CHECK(quotient.coefficient(outer.get()) == 1);
  const cost::LinearIndex rest = cost::linear_index(index % 64, variables);
  CHECK(rest.is_exact);
  CHECK(rest.coefficient(outer.get()) == 0);
  CHECK(rest.coefficient(middle.get()) == 16);
  CHECK(rest.coefficient(inner.get()) == 1);
  CHECK_FALSE(cost::linear_index(index / 48, variables).is_exact);
}

TEST_CASE("the share of a tail is counted exactly") {
  const ir::Expr outer = ir::Var::make("outer"), inner = ir::Var::make("inner"), lane = ir::Var::make("lane");
  const std::vector<cost::Iterated> rows = {{outer.get(), 0, 7}, {inner.get(), 0, 6}};
  cost::Variables variables;
  CHECK(cost::share_of(outer * 6 + inner < 37, rows, variables).any == doctest::Approx(37.0 / 42));
  CHECK(cost::share_of(outer * 6 + inner >= 1 && outer * 6 + inner <= 40, rows, variables).any ==
        doctest::Approx(40.0 / 42));
  const std::vector<cost::Iterated> columns = {{outer.get(), 0, 5}, {lane.get(), 0, 8, true}};
  const cost::Share share = cost::share_of(outer * 8 + lane < 37, columns, variables);
  CHECK(share.any == 1);
  CHECK(share.partial == doctest::Approx(1.0 / 5));
  // A condition that holds in all iterations, or in none, has no part in it, however long its loops are.
  const std::vector<cost::Iterated> long_rows = {{outer.get(), 0, 1e6}, {inner.get(), 0, 7}};
  CHECK(cost::share_of(outer < 1'000'000 && inner < 3, long_rows, variables).any == doctest::Approx(3.0 / 7));
  CHECK(cost::share_of(outer < 1'000'000 && inner >= 0, long_rows, variables).any == 1);
  CHECK(cost::share_of(inner < 3 && outer < -1, long_rows, variables).any == 0);
  // Far more combinations than are looked at one by one.
  const std::vector<cost::Iterated> many = {{outer.get(), 0, 100'000}, {inner.get(), 0, 6}};
  CHECK(cost::share_of(outer * 6 + inner < 300'000, many, variables).any == doctest::Approx(0.5).epsilon(0.02));
}

TEST_CASE("tensors that fit a cache move no lines, and larger ones each line once") {
  const Target target = resolve_target("x86-64-v3 -l1-bytes=32768 -l2-bytes=524288");
  const auto lines = [&](const std::string& text) {
    const ir::Function function = lowered(text, target.text);
    return cost::lines_of(cost::nest_of(function), cost::core_of(target));
  };
  const auto small = lines("def f(float(1000) A) -> (B) { B(i) = A(i) + 1 }");
  CHECK(small[0].in_row + small[0].lone == 0);
  const auto middle = lines("def f(float(40000) A) -> (B) { B(i) = A(i) + 1 }");
  // Results are read and written back.
  CHECK(middle[0].in_row == doctest::Approx(3 * 40'000 * 4 / 64).epsilon(0.01));
  CHECK(middle[1].in_row + middle[1].lone == 0);
  const auto large = lines("def f(float(4000000) A) -> (B) { B(i) = A(i) + 1 }");
  CHECK(large[1].in_row == doctest::Approx(3.0 * 4'000'000 * 4 / 64).epsilon(0.01));
}

TEST_CASE("boards have cores of their own") {
  CHECK(cost::core_of(resolve_target("raspberry-pi-3")).name == "cortex-a53");
  CHECK(cost::core_of(resolve_target("raspberry-pi-4")).name == "cortex-a72");
  CHECK(cost::core_of(resolve_target("raspberry-pi-5")).name == "cortex-a76");
  CHECK(cost::core_of(resolve_target("raspberry-pi-3")).window == 0);
  CHECK(cost::core_of(resolve_target("raspberry-pi-5")).caches[1].bytes == 524288);
  CHECK(cost::core_of(resolve_target("riscv64")).name == "sifive-u74");
}

TEST_CASE("a larger register tile is faster until the registers end") {
  const auto cycles = [&](const std::string& tile, const std::string& target) {
    return cost::estimate(lowered(kProduct, target, product_tile(tile)), resolve_target(target)).cycles;
  };
  for (const char* target : {"raspberry-pi-4", "raspberry-pi-5", "raspberry-pi-3", "x86-64-v3"}) {
    CAPTURE(target);
    CHECK(cycles("1x1", target) > 1.5 * cycles("4x2", target));
  }
  // The peak of Cortex-A72 is a vector of four multiply-adds a cycle.
  const double multiply_adds = 240.0 * 256 * 512 / 4;
  CHECK(cycles("5x4", "raspberry-pi-4") > multiply_adds);
  CHECK(cycles("5x4", "raspberry-pi-4") < 1.6 * multiply_adds);
}
