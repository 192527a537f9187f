#include "host/stats/confidence_sequence.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "host/stats/random.h"

namespace ferry::stats {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The logarithm of the integral of exp(log_density) over an evenly spaced grid.
double log_integral(double low, double high, int steps, const auto& log_density) {
  std::vector<double> terms;
  double most = -kInfinity;
  for (int i = 0; i <= steps; ++i) {
    terms.push_back(log_density(low + (high - low) * i / steps));
    most = std::max(most, terms.back());
  }
  double sum = 0;
  for (const double term : terms) sum += std::exp(term - most);
  return most + std::log(sum * (high - low) / steps);
}

// The mixture of likelihood ratios as it is defined: the densities of the values are integrated over the logarithm of
// the deviation (the right Haar prior) and, on the alternative's side, over normal effects.
double log_mixture(const std::vector<double>& values, double mean) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value - mean));
  const auto log_likelihood = [&](double effect, double log_deviation) {
    const double deviation = std::exp(log_deviation);
    double sum = -static_cast<double>(values.size()) * log_deviation;
    for (const double value : values) {
      const double z = (value - mean) / deviation - effect;
      sum -= z * z / 2;
    }
    return sum;
  };
  const double low = std::log(largest) - 5, high = std::log(largest) + 8;
  const double alternative = log_integral(-8, 8, 400, [&](double effect) {
    const double prior = -effect * effect / 2 - std::log(2 * 3.141592653589793) / 2;
    return prior +
           log_integral(low, high, 700, [&](double log_deviation) { return log_likelihood(effect, log_deviation); });
  });
  const double none =
      log_integral(low, high, 700, [&](double log_deviation) { return log_likelihood(0, log_deviation); });
  return alternative - none;
}

TEST_CASE("at the interval's ends the mixture of likelihood ratios, integrated numerically, is one over the level") {
  Random random(41);
  for (const std::size_t count : {5, 6, 9, 20}) {
    for (const double level : {0.05, 0.01}) {
      std::vector<double> values;
      for (std::size_t i = 0; i < count; ++i) values.push_back(3 + 0.2 * random.normal());
      const MeanInterval interval = confidence_sequence(values, level).value();
      CAPTURE(count);
      CAPTURE(level);
      if (std::isinf(interval.high)) {
        CHECK(log_mixture(values, 100) < -std::log(level));
        continue;
      }
      CHECK(log_mixture(values, interval.low) == doctest::Approx(-std::log(level)).epsilon(1e-4));
      CHECK(log_mixture(values, interval.high) == doctest::Approx(-std::log(level)).epsilon(1e-4));
      CHECK(log_mixture(values, interval.mean + 0.9 * (interval.high - interval.mean)) < -std::log(level));
    }
  }
}

TEST_CASE("the reach is that of the formula in long double, also for many values and tiny levels") {
  for (const std::size_t count : {2UL, 3UL, 6UL, 8UL, 17UL, 64UL, 1000UL, 1'000'000UL}) {
    for (const double level : {0.5, 0.01, 5e-4, 1e-9, 1e-200}) {
      CAPTURE(count);
      CAPTURE(level);
      const auto n = static_cast<long double>(count);
      // The level's square underflows where its logarithm does not.
      const long double t = std::exp((std::log(n + 1) - 2 * std::log(static_cast<long double>(level))) / n);
      const long double k = (1 - 1 / t) * (n + 1);
      if (k >= n) {
        CHECK(std::isinf(confidence_reach(count, level)));
      } else {
        CHECK(confidence_reach(count, level) ==
              doctest::Approx(static_cast<double>(std::sqrt(k / (n - k)))).epsilon(1e-9));
      }
    }
  }
}

TEST_CASE("the reach falls with every value once it is finite, as the square root of log(n)/n does in the end") {
  double last = kInfinity;
  for (std::size_t count = 1; count < 3000; ++count) {
    const double reach = confidence_reach(count, 0.001);
    CHECK((reach < last || (std::isinf(reach) && std::isinf(last))));
    last = reach;
  }
  for (const double n : {1e9, 1e15}) {
    CHECK(confidence_reach(static_cast<std::size_t>(n), 0.01) ==
          doctest::Approx(std::sqrt(std::log(n / 1e-4) / n)).epsilon(1e-6));
  }
}

TEST_CASE("the least number of values is the first with a finite interval") {
  for (const double level : {0.5, 0.01, 5e-4, 1e-9}) {
    const std::size_t least = least_for_confidence(level);
    CHECK(std::isfinite(confidence_reach(least, level)));
    CHECK(std::isinf(confidence_reach(least - 1, level)));
  }
  CHECK(least_for_confidence(0.01) == 6);
  CHECK(least_for_confidence(0.01 / 20) == 8);
}

TEST_CASE("nothing is said about no value or one, and equal values have an interval without width") {
  for (const std::vector<double>& values : {std::vector<double>{}, std::vector<double>{0.25}}) {
    const MeanInterval interval = confidence_sequence(values, 0.01).value();
    CHECK(interval.low == -kInfinity);
    CHECK(interval.high == kInfinity);
    CHECK(interval.deviation == 0);
  }
  CHECK(confidence_sequence(std::vector<double>{0.25}, 0.01).value().mean == 0.25);
  for (const double value : {0.0, 0.1, -1e-310, 1e308}) {
    CAPTURE(value);
    const MeanInterval few = confidence_sequence(std::vector<double>(5, value), 0.01).value();
    CHECK(few.low == -kInfinity);
    const MeanInterval interval = confidence_sequence(std::vector<double>(11, value), 0.01).value();
    CHECK(interval.deviation == 0);
    CHECK(interval.low == doctest::Approx(value));
    CHECK(interval.high == interval.low);
  }
}

TEST_CASE("the largest numbers do not overflow, and a large mean does not hide the deviation") {
  std::vector<double> large, shifted;
  for (int i = 0; i < 30; ++i) {
    large.push_back(i % 2 == 0 ? 1.5e308 : -1.5e308);
    shifted.push_back(1e6 + (i % 2 == 0 ? 1e-6 : -1e-6));
  }
  const MeanInterval interval = confidence_sequence(large, 0.01).value();
  CHECK(interval.mean == 0);
  CHECK(interval.deviation == doctest::Approx(1.5e308));
  CHECK(confidence_sequence(shifted, 0.01).value().deviation == doctest::Approx(1e-6).epsilon(1e-3));
}

TEST_CASE("a level that is none and values that are not finite are refused") {
  const std::vector<double> fine = {1, 2, 3};
  for (const double level : {0.0, 1.0, -0.5, 2.0, std::nan("")}) {
    const auto refused = confidence_sequence(fine, level);
    REQUIRE(!refused.is_ok());
    CHECK(refused.status().message().starts_with("expected a level between 0 and 1, got "));
  }
  for (const double value : {std::nan(""), kInfinity, -kInfinity}) {
    const auto refused = confidence_sequence(std::vector<double>{1, value, 3}, 0.01);
    REQUIRE(!refused.is_ok());
    CHECK(refused.status().message().starts_with("expected finite values, got "));
    CHECK(refused.status().message().ends_with(" at index 1"));
  }
}

// Returns how many of the trials ever exclude the true mean.
int excluded(double level, std::size_t most, int trials) {
  Random random(42);
  int wrong = 0;
  for (int trial = 0; trial < trials; ++trial) {
    // Welford's algorithm, so that every prefix costs a few operations.
    double mean = 0, squares = 0;
    for (std::size_t n = 1; n <= most; ++n) {
      const double value = random.normal(), difference = value - mean;
      mean += difference / static_cast<double>(n);
      squares += difference * (value - mean);
      if (std::abs(mean) > std::sqrt(squares / static_cast<double>(n)) * confidence_reach(n, level)) {
        ++wrong;
        break;
      }
    }
  }
  return wrong;
}

TEST_CASE("looking after every one of 200 normal values, the true mean is excluded no more often than promised") {
  const int trials = 4000;
  const int wrong = excluded(0.1, 200, trials);
  MESSAGE("excluded at a level of 10%: " << 100.0 * wrong / trials << "%");
  CHECK(wrong <= 0.1 * trials + 4 * std::sqrt(trials * 0.1 * 0.9));
  // A much lower rate would mean intervals that are wider than necessary.
  CHECK(wrong >= 0.03 * trials);
}

}  // namespace
}  // namespace ferry::stats
