#include "crosscompile/analysis/modulus.h"

#include "crosscompile/ir/printer.h"
#include "ferry/operators.h"
#include "tests/unit/crosscompile/analysis/evaluate.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::analysis_test;

TEST_CASE("an expression found to be a multiple is one at every point, and simple multiples are found") {
  const Expr x = Var::make("x"), y = Var::make("y");
  struct Case {
    Expr expr;
    std::vector<std::int64_t> multiple_of;  // those that must be found
  };
  const std::vector<Case> cases = {
      {Expr(12), {1, 2, 3, 4, 6, 12}},
      {Expr(0), {1, 2, 7, 16}},
      {x * 8 + y * 4, {1, 2, 4}},
      {x * 6 - y * 9 + 3, {1, 3}},
      {x * y * 5, {1, 5}},
      {(x * 4 + 2) * (y * 6), {2, 3, 6}},
      {x * 4 ^ y * 8, {2, 4}},
      {x * 6 ^ y * 6, {2}},  // 3 divides 6 and 12, but not 6 ^ 12
      {x / 4 * 4, {2, 4}},
      {x + y, {}},
      {x * 4 + 1, {}},
      {min(x * 4, y * 4), {}},
  };
  for (const Case& one : cases) {
    for (std::int64_t n = 1; n <= 16; ++n) {
      const bool found = analysis::is_multiple(one.expr, n);
      bool always = true;
      over_all({x, y}, -7, 7, [&](Values& at) { always = always && evaluate(one.expr, at) % n == 0; });
      if (found) CHECK_MESSAGE(always, to_text(one.expr), " is not always a multiple of ", n);
      const bool expected = std::find(one.multiple_of.begin(), one.multiple_of.end(), n) != one.multiple_of.end();
      if (expected && n > 1) CHECK_MESSAGE(found, to_text(one.expr), " is a multiple of ", n);
    }
  }
}
