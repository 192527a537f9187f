#include "host/stats/rank_correlation.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace ferry::stats {
namespace {

using Values = std::vector<double>;

TEST_CASE("the rank correlation depends on orders alone") {
  CHECK(rank_correlation(Values{1, 2, 3, 4}, Values{1e-9, 5, 6, 1e9}) == doctest::Approx(1));
  CHECK(rank_correlation(Values{1, 2, 3, 4}, Values{8, 6, 4, -2}) == doctest::Approx(-1));
  CHECK(rank_correlation(Values{3, 1, 2}, Values{30, 10, 20}) == doctest::Approx(1));
}

// With distinct values it is 1 - 6 sum d^2 / (n (n^2 - 1)), d being the differences of the ranks.
TEST_CASE("the rank correlation of distinct values is that of the textbooks' formula") {
  // An example of many textbooks: intelligence quotients and hours of television.
  const Values iq = {86, 97, 99, 100, 101, 103, 106, 110, 112, 113};
  const Values hours = {2, 20, 28, 27, 50, 29, 7, 17, 6, 12};
  CHECK(rank_correlation(iq, hours) == doctest::Approx(-29.0 / 165));
  CHECK(rank_correlation(Values{1, 2, 3, 4, 5}, Values{2, 1, 4, 3, 5}) == doctest::Approx(1 - 6.0 * 4 / (5 * 24)));
}

TEST_CASE("equal values have the mean of their ranks") {
  // Their ranks are 1, 2.5, 2.5, 4 and 1, 2, 3, 4.
  CHECK(rank_correlation(Values{1, 2, 2, 3}, Values{1, 2, 3, 4}) == doctest::Approx(4.5 / std::sqrt(4.5 * 5)));
  // Their ranks are 1.5, 1.5, 3.5, 3.5, 5 and 1, 2, 3.5, 5, 3.5.
  CHECK(rank_correlation(Values{1, 1, 2, 2, 3}, Values{5, 6, 7, 8, 7}) == doctest::Approx(6.75 / std::sqrt(9 * 9.5)));
}

TEST_CASE("values that are all equal correlate with nothing") {
  CHECK(rank_correlation(Values{1, 1, 1}, Values{1, 2, 3}) == 0);
  CHECK(rank_correlation(Values{7}, Values{3}) == 0);
  CHECK(rank_correlation(Values{}, Values{}) == 0);
}

}  // namespace
}  // namespace ferry::stats
