// Tests which matrix products of bytes the default schedule computes by dot instructions, and how. Their results are
// tested for every point of the rule's space (points_test.cpp), and as machine code (tests/e2e/programs).
#include "crosscompile/target/resolve.h"
#include "ferry/lang/text.h"
#include "ferry/schedule/default_schedule.h"
#include "tests/support/schedules/scheduled.h"

#include <doctest/doctest.h>

#include <string>

using namespace ferry;

namespace {

constexpr const char* kVnni = "llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=icelake-server";
constexpr const char* kNoDots = "llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=x86-64-v3";

std::string schedule_of(const std::string& source, const std::string& target) {
  return autoschedule::default_schedule(lang::parse(source, "test.tc").at(0), resolve_target(target)).to_text();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string product(const std::string& left, const std::string& right, const std::string& sum = "int") {
  return "def f(" + left + "(64,96) A, " + right + "(96,80) B) -> (C) { C(m,n) +=! " + sum + "(A(m,k)) * " + sum +
         "(B(k,n)) }";
}

}  // namespace

TEST_CASE("products of bytes are dots on every target that has instructions for them") {
  for (const char* target : {kVnni, "raspberry-pi-5", "raspberry-pi-4", "raspberry-pi-3-32bit", "armv7"}) {
    CAPTURE(target);
    for (const char* left : {"int8", "uint8"})
      for (const char* right : {"int8", "uint8"}) CHECK(has(schedule_of(product(left, right), target), "tensorize"));
  }
  for (const char* target : {kNoDots, "riscv64-v"})
    CHECK_FALSE(has(schedule_of(product("int8", "int8"), target), "tensorize"));
}

TEST_CASE("products of bfloat16 are products of tiles where the target has them for it") {
  const std::string brains = product("bfloat16", "bfloat16", "float"), amx =
                                                                           "llvm -mtriple=x86_64-unknown-linux-gnu "
                                                                           "-mcpu=sapphirerapids";
  CHECK(has(schedule_of(brains, amx), "tile_dot"));
  CHECK_FALSE(has(schedule_of(brains, amx + " -mattr=-amx-bf16"), "tensorize"));
  // Fewer than 8 rows, or a sum of fewer than 24 products, would leave most of a tile unused.
  for (const char* small :
       {"def f(bfloat16(7,96) A, bfloat16(96,80) B) -> (C) { C(m,n) +=! float(A(m,k)) * float(B(k,n)) }",
        "def f(bfloat16(64,23) A, bfloat16(23,80) B) -> (C) { C(m,n) +=! float(A(m,k)) * float(B(k,n)) }"})
    CHECK_FALSE(has(schedule_of(small, amx), "tensorize"));
}

TEST_CASE("columns are flipped only where the instruction takes the other type of bytes") {
  const auto flips = [](const char* left, const char* right, const char* target) {
    return has(schedule_of(product(left, right), target), "flip");
  };
  CHECK_FALSE(flips("uint8", "int8", kVnni));
  CHECK_FALSE(flips("int8", "uint8", kVnni));
  CHECK(flips("int8", "int8", kVnni));
  CHECK(flips("uint8", "uint8", kVnni));
  for (const char* target : {"raspberry-pi-5", "raspberry-pi-4", "armv7"}) {
    CHECK_FALSE(flips("int8", "int8", target));
    CHECK_FALSE(flips("uint8", "uint8", target));
    CHECK(flips("uint8", "int8", target));
  }
}

TEST_CASE("other sums, vectors and small products are no dots") {
  for (const std::string& source : {
           product("int16", "int16"),
           product("int8", "int8", "float"),
           product("int8", "int8", "int64"),
           std::string("def f(int8(96) A, int8(96,80) B) -> (C) { C(n) +=! int(A(k)) * int(B(k,n)) }"),
           std::string("def f(int8(4,96) A, int8(96,80) B) -> (C) { C(m,n) +=! int(A(m,k)) * int(B(k,n)) }"),
           std::string("def f(int8(64,96) A, int8(96,80) B) -> (C) { C(m,n) max=! int(A(m,k)) * int(B(k,n)) }"),
           std::string("def f(int8(64,96) A, int8(96,80) B) -> (C) { C(m,n) +=! int(A(m,k)) + int(B(k,n)) }"),
           std::string("def f(int8(64,96) A, int8(96,3) B) -> (C) { C(m,n) +=! int(A(m,k)) * int(B(k,n)) }"),
           std::string("def f(int8(64,3) A, int8(3,80) B) -> (C) { C(m,n) +=! int(A(m,k)) * int(B(k,n)) }"),
           std::string("def f(int8(8,9,9) A, int8(16,8,3) B) -> (C) { C(n,h,w) +=! int(A(c,h,w+k)) * int(B(n,c,k)) "
                       "where w in 0:7 }"),
       }) {
    CAPTURE(source);
    CHECK_FALSE(has(schedule_of(source, kVnni), "tensorize"));
  }
  // Constants are packed before the call.
  CHECK(has(
      schedule_of("def f(int8(4,96) A, const int8(96,80) B) -> (C) { C(m,n) +=! int(A(m,k)) * int(B(k,n)) }", kVnni),
      "tensorize"));
}

TEST_CASE("only sums that may be no whole number of groups are padded") {
  const auto pads = [](const std::string& depth) {
    return has(schedule_of("def f(uint8(64," + depth + ") A, int8(" + depth +
                               ",128) B) -> (C) { C(m,n) +=! int(A(m,k)) * int(B(k,n)) }",
                           kVnni),
               "C: pad k 4");
  };
  CHECK_FALSE(pads("96"));
  CHECK(pads("97"));
  CHECK(pads("K"));
}

TEST_CASE("products of bytes as dots are the sums of the products for every depth and number of columns") {
  for (const char* target : {kVnni, "raspberry-pi-5", "raspberry-pi-4", "armv7"}) {
    for (const auto& [left, right] : {std::pair("int8", "int8"), std::pair("uint8", "int8")}) {
      for (const int depth : {8, 9, 10, 11, 33}) {
        const std::string k = std::to_string(depth);
        const std::string source = std::string("def f(") + left + "(9," + k + ") A, " + right + "(" + k +
                                   ",35) B) -> (C) { C(m,n) +=! int(A(m,k)) * int(B(k,n)) }";
        const std::string schedule = schedule_of(source, target);
        CAPTURE(schedule);
        CHECK(has(schedule, "tensorize"));
        test::check_schedule(source, schedule);
      }
    }
  }
}
