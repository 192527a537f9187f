// Tests which products of few columns have vectors along the sum, and what they compute.
#include "ferry/lang/text.h"
#include "host/autoschedule/decisions.h"
#include "tests/support/schedules/scheduled.h"
#include "tests/unit/host/autoschedule/rule_cases.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <tuple>

using namespace ferry;
using autoschedule::DecidedSchedule;
using autoschedule::Sizes;

namespace {

const char* const kPlain = "def f(int(M,K) A, int(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
const char* const kColumnsInRows = "def f(int(M,K) A, int(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }";
const char* const kRowsLast = "def f(int(M,K) A, int(K,N) B) -> (C) { C(n,m) +=! A(m,k) * B(k,n) }";
const char* const kDepthOutside = "def f(int(K,M) A, int(K,N) B) -> (C) { C(m,n) +=! A(k,m) * B(k,n) }";

DecidedSchedule decided(const char* source, std::int64_t rows, std::int64_t columns, std::int64_t depth,
                        std::uint32_t bits = 512, std::uint32_t registers = 32) {
  Target target = test::small_cpu(bits, 48 << 10, 2 << 20);
  target.vector_registers = registers;
  return autoschedule::decide_schedule(lang::parse(source, "test.tc").at(0), target,
                                       {{"M", rows}, {"N", columns}, {"K", depth}}, autoschedule::choose_default);
}

std::string rule(const DecidedSchedule& schedule) { return schedule.decisions.at(0).rule; }

bool has(const std::string& text, const std::string& line) { return text.find(line + "\n") != std::string::npos; }

}  // namespace

TEST_CASE("products of rows with few columns have vectors along the sum") {
  for (const char* source : {kPlain, kColumnsInRows, kRowsLast})
    for (const std::int64_t columns : {2, 3, 4, 7}) {
      const DecidedSchedule found = decided(source, 515, columns, 509);
      const std::string text = found.schedule.to_text();
      INFO(text);
      CHECK(rule(found) == "inner_products");
      CHECK(has(text, "C: vectorize k.inner reduce"));
      CHECK(has(text, "C: parallel m.outer"));
      CHECK(has(text, "B.global: transform_layout (d0, d1) -> (d1, d0)") == (source != kColumnsInRows));
      for (const auto& [rows, others, depth] : {std::tuple{13, 5, 37}, {1, 1, 1}, {7, 3, 0}, {0, 2, 3}, {9, 11, 16}})
        test::check_schedule(source, text, {{"M", rows}, {"N", others}, {"K", depth}});
    }
}

TEST_CASE("vectors of columns or rows stay where they take fewer instructions") {
  // Adding up the vectors of short sums takes longer, and so do partial results of many columns.
  CHECK(rule(decided(kPlain, 4096, 8, 64)) == "reduction");
  CHECK(rule(decided(kPlain, 512, 16, 512)) == "reduction");
  CHECK(rule(decided(kPlain, 512, 8, 512, 256, 16)) == "reduction");
  // Rows that come from memory.
  CHECK(rule(decided(kPlain, 1760, 8, 1760)) == "reduction");
  CHECK(rule(decided(kPlain, 1760, 4, 1760)) == "inner_products");
  // Few rows do not pay for packing.
  CHECK(rule(decided(kPlain, 8, 3, 512)) == "reduction");
  CHECK(rule(decided(kColumnsInRows, 8, 3, 512)) == "inner_products");
  // Neither tensor is contiguous along the sum.
  CHECK(rule(decided(kDepthOutside, 512, 4, 512)) == "reduction");
  CHECK(rule(decided(kColumnsInRows, 512, 4, 20)) == "reduction");
}

TEST_CASE("tiles of rows and columns of inner products load little and fit the registers") {
  const auto tile = [](const DecidedSchedule& found) { return found.points.at(0)["tile"]; };
  using Value = autoschedule::KnobValue;
  CHECK(tile(decided(kColumnsInRows, 512, 4, 512)) == Value{6, 4});
  CHECK(tile(decided(kColumnsInRows, 512, 4, 64)) == Value{4, 4});
  CHECK(tile(decided(kColumnsInRows, 512, 3, 512, 256, 16)) == Value{4, 3});
  // Rows from memory are read for all columns at once.
  CHECK(tile(decided(kColumnsInRows, 1760, 4, 1760, 256, 16)) == Value{2, 4});
  CHECK(tile(decided(kColumnsInRows, 512, 3, 512, 128, 16)) == Value{3, 3});
  CHECK(tile(decided(kColumnsInRows, 5, 2, 512)).at(0) <= 5);
}

TEST_CASE("a product with one column has vectors along the sum, in which both tensors are contiguous") {
  const DecidedSchedule found = decided(kPlain, 513, 1, 509);
  const std::string text = found.schedule.to_text();
  CHECK_MESSAGE(has(text, "C: vectorize k.inner reduce"), text);
  CHECK(text.find("cache_read") == std::string::npos);
  for (const std::int64_t columns : {1, 3}) test::check_schedule(kPlain, text, {{"M", 9}, {"N", columns}, {"K", 21}});
}
