#include "crosscompile/analysis/affine.h"

#include "crosscompile/ir/substitute.h"
#include "ferry/operators.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::analysis;

namespace {

const Expr x = Var::make("x"), y = Var::make("y"), n = Var::make("n");

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

// Evaluates +, -, *, /, %, min and max over x, y and n.
std::int64_t value_of(const Expr& expr, std::int64_t at_x, std::int64_t at_y, std::int64_t at_n) {
  if (const std::int64_t* number = as_int(expr)) return *number;
  if (expr.as<Var>() != nullptr) return expr.same_as(x) ? at_x : expr.same_as(y) ? at_y : at_n;
  if (const auto* unary = expr.as<Unary>()) return -value_of(unary->value, at_x, at_y, at_n);
  const auto* node = expr.as<Binary>();
  REQUIRE(node != nullptr);
  const std::int64_t a = value_of(node->left, at_x, at_y, at_n), b = value_of(node->right, at_x, at_y, at_n);
  if (node->op == BinaryOp::add) return a + b;
  if (node->op == BinaryOp::sub) return a - b;
  if (node->op == BinaryOp::mul) return a * b;
  if (node->op == BinaryOp::div) return floor_div(a, b);
  if (node->op == BinaryOp::mod) return a - floor_div(a, b) * b;
  return node->op == BinaryOp::min ? std::min(a, b) : std::max(a, b);
}

}  // namespace

TEST_CASE("the linear form of an expression has its value everywhere") {
  for (const Expr& expr : {x, y, Expr(3), x * 3 + y, 5 - x, -(x + 2) * 4 + n, (x + y) - (x * 2 - n), 2 * (3 * x)}) {
    const auto affine = affine_in(expr, x);
    REQUIRE(affine.has_value());
    CHECK(!uses_var(affine->rest, x));
    for (const std::int64_t at : {-7, 0, 1, 13})
      CHECK(affine->coefficient * at + value_of(affine->rest, at, 3, 11) == value_of(expr, at, 3, 11));
  }
}

TEST_CASE("what is not linear in the variable, or not over indices, has no linear form") {
  for (const Expr& expr : {x * x, x * n, x / 2, x % 3, min(x, n)}) CHECK(!affine_in(expr, x).has_value());
  CHECK(affine_in(y / 2, x)->coefficient == 0);
  const Expr narrow = Var::make("narrow", DType::i32);
  CHECK(!affine_in(narrow + 1, narrow).has_value());
}

TEST_CASE("a coefficient that overflows is refused") {
  const Expr most = Expr(std::numeric_limits<std::int64_t>::max());
  CHECK(!affine_in(Binary::make(BinaryOp::add, Binary::make(BinaryOp::mul, x, most), x), x).has_value());
  CHECK(!affine_in(Binary::make(BinaryOp::mul, Binary::make(BinaryOp::mul, x, most), Expr(2)), x).has_value());
}

TEST_CASE("bounds over loops hold for every iteration, and are reached by linear expressions") {
  const Expr exprs[] = {x, 3 * x - 2 * y, n - x * 4 + y, min(x, y) * 2, max(5 - x, y), x / 3 - y % 4, x - min(y, n)};
  for (const std::int64_t extent : {1, 2, 3, 7})
    for (const Expr& expr : exprs) {
      // The second loop depends on the first.
      const std::vector<Range> ranges{{x, Expr(2), Expr(extent)}, {y, x, Expr(extent)}};
      const auto low = lower_bound(expr, ranges), high = upper_bound(expr, ranges);
      REQUIRE(low.has_value());
      REQUIRE(high.has_value());
      std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = std::numeric_limits<std::int64_t>::min();
      for (std::int64_t i = 2; i < 2 + extent; ++i)
        for (std::int64_t j = i; j < i + extent; ++j) {
          least = std::min(least, value_of(expr, i, j, 6));
          most = std::max(most, value_of(expr, i, j, 6));
        }
      CHECK(value_of(*low, 0, 0, 6) <= least);
      CHECK(value_of(*high, 0, 0, 6) >= most);
      if (!affine_in(expr, y) || !affine_in(expr, x)) continue;
      CHECK(value_of(*low, 0, 0, 6) == least);
      CHECK(value_of(*high, 0, 0, 6) == most);
    }
}

TEST_CASE("an expression that nothing bounds has no bound") {
  const std::vector<Range> ranges{{x, Expr(0), n}};
  CHECK(!lower_bound(x * x, ranges).has_value());
  CHECK(!upper_bound(n / x, ranges).has_value());
  // Either side bounds a min from above.
  CHECK(upper_bound(min(x * x, n), ranges).has_value());
  CHECK(!lower_bound(min(x * x, n), ranges).has_value());
}

TEST_CASE("the variation is the distance between the bounds, and unknown where an extent is") {
  const std::vector<Range> ranges{{x, n, Expr(5)}, {y, x, Expr(4)}};
  CHECK(variation(x * 3 + y * -2, ranges) == 4 * 1 + 3 * 2);
  CHECK(variation(n, ranges) == 0);
  CHECK(!variation(x, std::vector<Range>{{x, Expr(0), n}}).has_value());
  CHECK(variation(y, std::vector<Range>{{x, Expr(0), n}}) == 0);
  CHECK(!variation(x / 2, ranges).has_value());
}

TEST_CASE("loads and calls are no arithmetic") {
  auto buffer = std::make_shared<Buffer>();
  buffer->name = "tensor";
  buffer->dtype = DType::i64;
  buffer->shape = {Expr(4)};
  CHECK(is_arithmetic(x * 2 + min(y, n) % 3));
  CHECK(!is_arithmetic(x + Load::make(buffer, {y})));
  CHECK(!is_arithmetic(x + Call::make(kIndex, Callee::external("f"), {y})));
}
