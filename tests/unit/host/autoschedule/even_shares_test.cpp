// Tests that threads get about as many iterations each where the outermost loop has few.
#include "ferry/lang/text.h"
#include "ferry/schedule/default_schedule.h"
#include "tests/support/schedules/scheduled.h"
#include "tests/unit/host/autoschedule/rule_cases.h"

#include <doctest/doctest.h>

#include <string>

using namespace ferry;

namespace {

std::string default_text(const std::string& source, Target target, std::uint32_t threads = 2) {
  target.threads = threads;
  return autoschedule::default_schedule(lang::parse(source, "test.tc").at(0), target).to_text();
}

bool has(const std::string& text, const std::string& directive) { return text.find(directive) != std::string::npos; }

}  // namespace

TEST_CASE("threads share out a few heads together with their rows, whose columns are read in place") {
  const Target target = test::small_cpu(512, 2000, 1 << 20);
  const auto product = [](const std::string& heads) {
    return "def f(int(" + heads + ",37,17) A, int(" + heads + ",17,23) B) -> (C) { C(b,m,n) +=! A(b,m,k) * B(b,k,n) }";
  };
  const std::string text = default_text(product("3"), target);
  INFO(text);
  CHECK(!has(text, "cache_read"));
  CHECK(has(text, "C: fuse b m.outer\n"));
  test::check_schedule(product("3"), text);
  CHECK(has(default_text(product("3"), target, 3), "C: parallel b\n"));
  CHECK(has(default_text(product("4"), target), "C: parallel b\n"));
  CHECK(has(default_text(product("17"), target), "C: parallel b\n"));
  // Columns larger than the cache, and those in columns, are packed.
  CHECK(has(default_text(product("3"), test::small_cpu(512, 1000, 1 << 20)), "B: cache_read"));
  CHECK(has(default_text("def f(int(3,37,17) A, int(3,23,17) B) -> (C) { C(b,m,n) +=! A(b,m,k) * B(b,n,k) }", target),
            "B: cache_read"));
}

TEST_CASE("threads share out the rows of a few blocks of constant columns") {
  const Target target = test::small_cpu(128, 256, 1 << 20);
  const auto product = [](const std::string& columns) {
    return "def f(int(37,40) A, const int(40," + columns + ") B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
  };
  // A tile has two vectors of four.
  const std::string text = default_text(product("24"), target);
  INFO(text);
  CHECK(has(text, "C: fuse n.outer m.outer\n"));
  test::check_schedule(product("24"), text);
  CHECK(has(default_text(product("32"), target), "C: parallel n.outer\n"));
  // The last block lacks columns.
  CHECK(has(default_text(product("23"), target), "C: parallel n.outer\n"));
}

TEST_CASE("threads share out the rows of a few heads of a softmax together") {
  const Target target = test::small_cpu(512, 32 << 10, 1 << 20);
  const auto rows = [](const std::string& heads) {
    return "def f(int(" + heads + ",83,97) A) -> (Y) {\n  top(h,i) max=! A(h,i,j)\n" +
           "  e(h,i,j) = A(h,i,j) * A(h,i,j) - top(h,i)\n  total(h,i) +=! e(h,i,j)\n"
           "  Y(h,i,j) = e(h,i,j) - total(h,i)\n}";
  };
  const std::string text = default_text(rows("3"), target);
  INFO(text);
  CHECK(has(text, "Y: fuse h i\n"));
  CHECK(has(text, "total: compute_at Y h.i.fused\n"));
  test::check_schedule(rows("3"), text);
  CHECK(has(default_text(rows("4"), target), "Y: parallel h\n"));
}
