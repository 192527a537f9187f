#include "host/lang/bounds/interval.h"

#include "ferry/operators.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

using namespace ferry;
using namespace ferry::lang;

TEST_CASE("an index divided by the smallest number is -1 or 0") {
  Algebra algebra;
  Intervals intervals(algebra);
  const ir::Expr i = ir::Var::make("i");
  intervals.add_index(i);
  intervals.set(i, {Algebra::number(0), Algebra::number(10)});
  const auto range = intervals.of(i / ir::Expr(std::numeric_limits<std::int64_t>::min()));
  REQUIRE(range.has_value());
  CHECK(constant_of(range->low) == -1);
  CHECK(constant_of(range->high) == 0);
}

TEST_CASE("a size divided by the smallest number stays a division") {
  Algebra algebra;
  Intervals intervals(algebra);
  const ir::Expr i = ir::Var::make("i"), n = ir::Var::make("n");
  const ir::Expr least(std::numeric_limits<std::int64_t>::min());
  algebra.set_non_negative(n);
  intervals.add_index(i);
  intervals.set(i, {Algebra::number(0), algebra.of(n)});
  const auto range = intervals.of(i / least);
  REQUIRE(range.has_value());
  const Polynomial last = algebra.of(n / least);
  CHECK(range->low == algebra.smaller({}, last));
  CHECK(range->high == algebra.larger({}, last));
}
