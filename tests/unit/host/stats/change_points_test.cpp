#include "host/stats/change_points.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "host/stats/random.h"
#include "host/stats/student_t.h"

namespace ferry::stats {
namespace {

using Values = std::vector<double>;

struct Level {
  std::size_t count;
  double mean;
};

Values steps(Random& random, const std::vector<Level>& levels, double deviation) {
  Values values;
  for (const Level& level : levels) {
    for (std::size_t i = 0; i < level.count; ++i) values.push_back(level.mean + deviation * random.normal());
  }
  return values;
}

std::vector<ChangePoint> changes_of(const Values& values, double level = 0.01) {
  return change_points(values, level).value();
}

TEST_CASE("one step is found where it is, with the means on both sides") {
  Random random(61);
  const std::vector<ChangePoint> changes = changes_of(steps(random, {{40, 1.0}, {25, 1.05}}, 0.01));
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].index == 40);
  CHECK(changes[0].before == doctest::Approx(1.0).epsilon(0.005));
  CHECK(changes[0].after == doctest::Approx(1.05).epsilon(0.005));
  CHECK(changes[0].p < 1e-10);
}

TEST_CASE("two steps are found, the second undoing the first, also if they are close together in a long series") {
  Random random(62);
  for (const std::size_t side : {30, 300, 3000}) {
    CAPTURE(side);
    const std::vector<ChangePoint> changes = changes_of(steps(random, {{side, 1}, {20, 1.05}, {side, 1}}, 0.01));
    REQUIRE(changes.size() == 2);
    CHECK(std::abs(static_cast<double>(changes[0].index) - static_cast<double>(side)) <= 1);
    CHECK(std::abs(static_cast<double>(changes[1].index) - static_cast<double>(side + 20)) <= 1);
    CHECK(changes[0].after == changes[1].before);
    CHECK(changes[0].after == doctest::Approx(1.05).epsilon(0.01));
  }
}

TEST_CASE("a staircase is found step by step, and a slight change if many values show it") {
  Random random(63);
  const std::vector<ChangePoint> stairs =
      changes_of(steps(random, {{50, 1}, {50, 1.1}, {50, 1.2}, {50, 1.1}, {50, 0.9}}, 0.02));
  REQUIRE(stairs.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(std::abs(static_cast<double>(stairs[i].index) - 50 * (static_cast<double>(i) + 1)) <= 2);
  }
  CHECK(changes_of(steps(random, {{2000, 1}, {2000, 1.005}}, 0.02)).size() == 1);
}

TEST_CASE("a step beside others, of which some are too short to be found, is found nevertheless") {
  // Measured: two values at another level near the beginning are not enough for a change of their own.
  const Values values = {460, 444, 445, 460, 460, 461, 460, 458, 459, 463, 470, 473, 475, 445, 445, 445,
                         445, 447, 445, 445, 446, 459, 460, 463, 457, 459, 461, 462, 461, 450, 456};
  std::string found;
  for (const ChangePoint& change : changes_of(values)) found += std::to_string(change.index) + " ";
  CHECK(found == "10 13 21 ");
}

TEST_CASE("a series without change has one in at most the promised share of cases") {
  Random random(64);
  const int trials = 400;
  for (const std::size_t count : {6, 7, 12, 50, 200}) {
    CAPTURE(count);
    int found = 0;
    for (int trial = 0; trial < trials; ++trial) found += !changes_of(steps(random, {{count, 1}}, 0.02), 0.05).empty();
    MESSAGE(count << " values: " << 100.0 * found / trials << "%");
    CHECK(found <= 0.05 * trials + 4 * std::sqrt(trials * 0.05 * 0.95));
  }
}

TEST_CASE("equal values have no change, and two groups of equal values have one") {
  for (const double value : {0.0, 0.1, -3.7e-310, 1.7e308}) {
    CAPTURE(value);
    CHECK(changes_of(Values(1000, value)).empty());
  }
  Values values(500, 0.1);
  values.resize(1000, 0.3);
  const std::vector<ChangePoint> changes = changes_of(values);
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].index == 500);
  CHECK(changes[0].before == doctest::Approx(0.1));
  CHECK(changes[0].after == doctest::Approx(0.3));
  CHECK(changes[0].p == 0);
}

TEST_CASE("too few values have no change") {
  for (std::size_t count = 0; count < 2 * kLeastSegment; ++count) {
    Values values(count, 1.0);
    if (count > 0) values.back() = 2;
    CHECK(changes_of(values).empty());
  }
  CHECK(changes_of({1, 1, 1, 2, 2, 2}).size() == 1);
}

TEST_CASE("outliers alone are no change") {
  Random random(65);
  Values values = steps(random, {{200, 1}}, 0.01);
  for (const std::size_t i : {0, 20, 77, 78, 150, 199}) values[i] = 1.5;
  CHECK(changes_of(values).empty());
}

TEST_CASE("the largest numbers do not overflow, and a negative series is the mirror of a positive one") {
  Values large;
  for (int i = 0; i < 40; ++i) large.push_back((i < 20 ? 1.7e308 : -1.7e308) * (1 - 0.001 * (i % 3)));
  const std::vector<ChangePoint> changes = changes_of(large);
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].index == 20);
  CHECK(changes[0].before == doctest::Approx(1.7e308).epsilon(0.01));
  CHECK(changes[0].after == doctest::Approx(-1.7e308).epsilon(0.01));
}

// The energy statistic as it is defined.
double rating_of(const Values& values, std::size_t split) {
  const auto mean_distance = [&](std::size_t a, std::size_t b, std::size_t c, std::size_t d, double pairs) {
    double sum = 0;
    for (std::size_t i = a; i < b; ++i) {
      for (std::size_t k = std::max(c, a == c ? i + 1 : c); k < d; ++k) sum += std::abs(values[i] - values[k]);
    }
    return sum / pairs;
  };
  const std::size_t size = values.size();
  const double m = static_cast<double>(split), n = static_cast<double>(size - split);
  const double energy = 2 * mean_distance(0, split, split, size, m * n) -
                        mean_distance(0, split, 0, split, m * (m - 1) / 2) -
                        mean_distance(split, size, split, size, n * (n - 1) / 2);
  return energy * m * n / (m + n);
}

double student(const Values& values, std::size_t split) {
  double mean[2] = {0, 0}, squares = 0;
  const double count[2] = {static_cast<double>(split), static_cast<double>(values.size() - split)};
  for (std::size_t i = 0; i < values.size(); ++i) mean[i >= split] += values[i] / count[i >= split];
  for (std::size_t i = 0; i < values.size(); ++i) squares += std::pow(values[i] - mean[i >= split], 2);
  const double degrees = count[0] + count[1] - 2;
  const double t = (mean[0] - mean[1]) / std::sqrt(squares / degrees / count[0] + squares / degrees / count[1]);
  return 2 * student_t_cdf(-std::abs(t), degrees);
}

TEST_CASE(
    "in a single window the split is the one that the definition rates best, with Student's p for each split tried") {
  Random random(66);
  int found = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const std::size_t count = 6 + random.below(3);  // from 9 on, there are narrower windows
    Values values = steps(random, {{count / 2, 1}, {count - count / 2, 1.1}}, 0.02);
    if (trial % 3 == 0) values[1] = values[2];  // ties
    const std::vector<ChangePoint> changes = changes_of(values, 0.3);
    if (changes.empty()) continue;
    ++found;
    REQUIRE(changes.size() == 1);
    std::size_t best = kLeastSegment;
    for (std::size_t i = kLeastSegment; i + kLeastSegment <= count; ++i) {
      if (rating_of(values, i) > rating_of(values, best)) best = i;
    }
    CHECK(changes[0].index == best);
    const double tried = static_cast<double>(count) - 5;
    CHECK(changes[0].p == doctest::Approx(std::min(1.0, student(values, best) * tried)).epsilon(1e-6));
  }
  CHECK(found > 200);
}

TEST_CASE("ten thousand values take much less than a second, with no change and with thousands") {
  Random random(67);
  std::vector<Level> many;
  for (int i = 0; i < 2000; ++i) many.push_back({5, i % 2 == 0 ? 1.0 : 2.0});
  const std::function<Values()> series[] = {
      [&] { return steps(random, {{10'000, 1}}, 0.02); },
      [&] { return steps(random, many, 0.0001); },
      [&] { return Values(10'000, 1.0); },
  };
  for (const auto& draw : series) {
    const Values values = draw();
    const std::clock_t start = std::clock();
    const std::size_t found = changes_of(values).size();
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (&draw == &series[1]) CHECK(found > 1000);
    MESSAGE(found << " changes in " << seconds << " s");
  }
}

TEST_CASE("values that are not finite, too many of them and a level that is none are refused") {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const auto refused = change_points(Values{1, 2, bad});
    REQUIRE(!refused.is_ok());
    CHECK(refused.status().message().starts_with("expected finite values, got "));
    CHECK(refused.status().message().ends_with(" at index 2"));
  }
  CHECK(change_points(Values(kMostForChangePoints + 1)).status().message() ==
        "expected at most 100000 values, got 100001");
  for (const double level : {0.0, 1.0, std::nan("")}) {
    CHECK(change_points(Values{1}, level).status().message().starts_with("expected a level between 0 and 1, got "));
  }
}

}  // namespace
}  // namespace ferry::stats
