// Compares what follows from facts with all values that satisfy them.
#include "crosscompile/analysis/facts.h"

#include "tests/unit/crosscompile/analysis/evaluate.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::analysis;
using namespace ferry::analysis_test;

namespace {

// i in [0, 6), j in [i, i + 3), under the condition i + j < 7.
struct Fixture {
  Expr i = Var::make("i"), j = Var::make("j");
  Expr condition = i + j < 7;

  void at_points(const std::function<void(const Values&)>& visit) const {
    over_all({i, j}, -1, 9, [&](Values& at) {
      const std::int64_t x = at.at(i.get()), y = at.at(j.get());
      if (x >= 0 && x < 6 && y >= x && y < x + 3 && x + y < 7) visit(at);
    });
  }
  std::vector<Expr> expressions() const {
    return {i,         j,           j - i,         i - j,         j - i - 3,     7 - i - j,         6 - i - j,
            i * j,     i * 2 - j,   j / 2 - i / 2, j % 4,         i * 3 % 5,     min(i, j) - i,     max(i, j) - j,
            5 - i * i, i - 6,       j - 8,         i / 2 * 2 - i, i - i / 2 * 2, min(i * 2, 7) - j, (i + j) / 2 - i,
            i * j + 1, (i + 1) * 2, j * j - i * i, i % 3 - 2,     2 - j % 3,     max(j - i, 1) - 1, 3 - i,
            4 - i,     j - i * 2,   i + j - 6,     i * 4 / 4 - i, (j - i) * 5,   (j - i) * (i - 5)};
  }
  void learn(Facts& facts) const {
    facts.enter_loop(i, Expr(0), Expr(6));
    facts.enter_loop(j, i, Expr(3));
    facts.assume(condition);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "ranges contain every value, and what is proved non-negative is at every point") {
  Facts facts;
  const Facts::Scope scope(facts);
  learn(facts);
  int proved = 0;
  for (const Expr& expr : expressions()) {
    const Polynomial polynomial = facts.atoms.polynomial(expr);
    REQUIRE(polynomial.valid);
    const Interval range = facts.range(polynomial);
    const bool is_nonnegative = facts.proves_nonnegative(polynomial);
    proved += is_nonnegative ? 1 : 0;
    at_points([&](const Values& at) {
      const std::int64_t value = evaluate(expr, at);
      CHECK((range.lo <= value && value <= range.hi));
      CHECK((!is_nonnegative || value >= 0));
    });
  }
  CHECK(proved >= 12);
  CHECK(facts.known(condition) == std::optional(true));
}

TEST_CASE_FIXTURE(Fixture, "a scope forgets at its end what was learnt inside it") {
  Facts facts;
  const Polynomial margin = facts.atoms.polynomial(j - i), bound = facts.atoms.polynomial(6 - i - j);
  {
    const Facts::Scope outer(facts);
    facts.enter_loop(i, Expr(0), Expr(6));
    facts.enter_loop(j, i, Expr(3));
    CHECK(facts.proves_nonnegative(margin));
    CHECK(!facts.proves_nonnegative(bound));
    {
      const Facts::Scope inner(facts);
      facts.assume(condition);
      CHECK(facts.proves_nonnegative(bound));
    }
    CHECK(!facts.proves_nonnegative(bound));
    CHECK(!facts.known(condition).has_value());
    CHECK(facts.proves_nonnegative(margin));
  }
  CHECK(!facts.proves_nonnegative(margin));
}

TEST_CASE("a condition assumed false gives the facts of its opposite") {
  const Expr x = Var::make("x");
  Facts facts;
  facts.limit(x, Interval{-4, 9});
  facts.assume(x < 3, false);
  CHECK(facts.proves_nonnegative(facts.atoms.polynomial(x - 3)));
  CHECK(!facts.proves_nonnegative(facts.atoms.polynomial(x - 4)));
  CHECK(facts.known(x < 3) == std::optional(false));
  for (const BinaryOp op : {BinaryOp::lt, BinaryOp::le, BinaryOp::gt, BinaryOp::ge, BinaryOp::eq, BinaryOp::ne})
    CHECK(opposite(opposite(op)) == op);
}
