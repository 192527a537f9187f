// Tests the coverage of the printed intervals: the true value lies inside in 95 of 100 cases.
#include "ferry/stats/interval.h"

#include <doctest/doctest.h>

#include "tests/unit/host/stats/noise_models.h"

namespace ferry::stats {
namespace {

// Returns the coverage in percent.
double coverage(const test::NoiseModel& model, std::size_t samples, int trials,
                const std::function<Interval(std::span<const double>)>& interval) {
  Random random(7 + samples);
  int inside = 0;
  for (int trial = 0; trial < trials; ++trial) inside += interval(model.draw(random, samples)).contains(model.truth);
  return 100.0 * inside / trials;
}

TEST_CASE("the printed 95% interval covers the true median 93 to 97 times of 100 under every noise model") {
  for (const test::NoiseModel& model : test::noise_models()) {
    for (const std::size_t samples : {40, 100, 240}) {
      CAPTURE(model.name);
      CAPTURE(samples);
      const double covered = coverage(model, samples, test::trials_of(2000), median_interval);
      MESSAGE(model.name << ", " << samples << " samples: " << covered << "%");
      CHECK(covered >= 93.0);
      CHECK(covered <= 97.0);
    }
  }
}

TEST_CASE("the percentile bootstrap keeps its promise for independent samples only") {
  for (const test::NoiseModel& model : test::noise_models()) {
    CAPTURE(model.name);
    const double covered = coverage(model, 100, test::trials_of(700), [](std::span<const double> samples) {
      return bootstrap_interval(samples, 1, 400);
    });
    MESSAGE(model.name << ": " << covered << "%");
    if (model.independent) {
      CHECK(covered >= 93.0);
      CHECK(covered <= 97.0);
    } else {
      CHECK(covered < 88.0);
    }
  }
}

TEST_CASE("the bootstrap's interval depends on its seed alone") {
  Random random(3);
  const std::vector<double> samples = test::spiky(random, 30);
  const Interval first = bootstrap_interval(samples, 5), again = bootstrap_interval(samples, 5);
  CHECK(first.low == again.low);
  CHECK(first.high == again.high);
  CHECK(first.low < first.high);
}

TEST_CASE("fewer than six samples tell nothing, and equal ones have an interval too") {
  CHECK(bootstrap_interval({}, 1).high == 0);
  for (std::size_t count = 0; count < kLeastForInterval; ++count) {
    const Interval unknown = median_interval(std::vector<double>(count, 2.5));
    CHECK_FALSE(unknown.is_known());
    CHECK(unknown.low == 0);
  }
  const std::vector<double> equal(kLeastForInterval, 2.5);
  CHECK(median_interval(equal).is_known());
  CHECK(median_interval(equal).low == 2.5);
  CHECK(median_interval(equal).high == 2.5);
}

}  // namespace
}  // namespace ferry::stats
