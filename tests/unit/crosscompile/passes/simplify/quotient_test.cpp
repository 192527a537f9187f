// Tests bounds of quotients: bounds of a dividend imply bounds of its quotient, both upper and lower.
#include "crosscompile/ir/expr.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;
using passes::can_prove;

TEST_CASE("what a fused loop's index stands for lies inside of the axes that were fused") {
  const Expr b = Var::make("b"), h = Var::make("h"), w = Var::make("w"), i = Var::make("i"), x = Var::make("x");
  const std::vector<Expr> two = {b >= 0, h >= 0, i >= 0, i < b * h};
  CHECK(can_prove(i / h < b, two));
  CHECK(can_prove(i / h <= b - 1, two));
  CHECK(!can_prove(i / h < b - 1, two));
  CHECK(can_prove(i / h >= 0, two));
  const std::vector<Expr> three = {b >= 0, h >= 0, w >= 0, i >= 0, i < b * h * w};
  CHECK(can_prove(i / (h * w) < b, three));
  CHECK(!can_prove(i / (h * w) < b - 1, three));
  // A lower bound is proven, but nothing beyond it.
  const std::vector<Expr> beyond = {h >= 1, x >= 0, i >= x * h};
  CHECK(can_prove(i / h >= x, beyond));
  CHECK(!can_prove(i / h >= x + 1, beyond));
  // Nothing is known for a divisor that may be negative.
  CHECK(!can_prove(i / h < b, {i >= 0, i < b * h, b >= 0}));
}
