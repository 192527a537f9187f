// Tests how the time for tuning a network is divided.
#include "host/tune/network/network_budget.h"

#include <doctest/doctest.h>

#include <chrono>

using ferry::tune::NetworkBudget;

namespace {

// Returns the seconds from there to the end.
double before_end(const NetworkBudget& budget, NetworkBudget::Until until) {
  REQUIRE(until);
  return std::chrono::duration<double>(*budget.end() - *until).count();
}

}  // namespace

TEST_CASE("a network that is compiled and loaded at once is searched for two thirds of the budget") {
  NetworkBudget budget(600, true);
  budget.set_costs({0.1, 0.1});
  CHECK(before_end(budget, budget.end_of_search()) == doctest::Approx(210));
  CHECK(before_end(budget, budget.end_of_ranking()) == doctest::Approx(150));
  CHECK(before_end(budget, budget.end_of_confirmation()) > 0);
  CHECK(before_end(budget, budget.end_of_confirmation()) < 150);
  CHECK(budget.search_seconds_left().value() == doctest::Approx(390).epsilon(0.1));
}

TEST_CASE("the search ends sooner where the end of the run takes longer, but not before two fifths") {
  NetworkBudget some(60, true), much(60, true);
  some.set_costs({2, 1});
  CHECK(before_end(some, some.end_of_search()) > 21.1);
  CHECK(before_end(some, some.end_of_search()) < 36);
  // Both networks are compiled twice, and three sessions are for the confirmation.
  CHECK(before_end(some, some.end_of_confirmation()) >= 4 + 8);
  much.set_costs({30, 10});
  CHECK(before_end(much, much.end_of_search()) == doctest::Approx(36));
}

TEST_CASE("without a comparison the search has the whole budget, and without a budget no end") {
  NetworkBudget only_search(60, false), forever(0, true);
  only_search.set_costs({30, 10});
  CHECK(before_end(only_search, only_search.end_of_search()) == 0);
  forever.set_costs({1, 1});
  CHECK_FALSE(forever.end_of_search());
  CHECK_FALSE(forever.end());
  CHECK_FALSE(forever.search_seconds_left());
  CHECK_FALSE(forever.is_after(forever.end()));
}
