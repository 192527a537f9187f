#include "host/stats/comparison.h"

#include <doctest/doctest.h>

#include "tests/unit/host/stats/noise_models.h"

namespace ferry::stats {
namespace {

// Log ratios of processes: the effect, and what each process's layout adds.
std::vector<double> processes(Random& random, int count, double effect, double layout) {
  std::vector<double> ratios;
  for (int i = 0; i < count; ++i) ratios.push_back(effect + layout * random.normal());
  return ratios;
}

TEST_CASE("equal kernels are told apart in at most 1% of comparisons, whatever the layouts do") {
  Random random(21);
  int wrong = 0;
  constexpr int kTrials = 10'000;
  for (int trial = 0; trial < kTrials; ++trial) {
    wrong += compare(processes(random, 12, 0, 0.02), 0).verdict != Verdict::no_difference;
  }
  MESSAGE("false verdicts: " << 100.0 * wrong / kTrials << "%");
  CHECK(wrong <= kTrials * 0.013);
}

TEST_CASE("5% are found in most comparisons when layouts move times by 2%") {
  Random random(22);
  int found = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    found += compare(processes(random, 12, std::log(1.05), 0.02), 0.01).verdict == Verdict::a_slower;
  }
  CHECK(found >= 1900);
}

TEST_CASE("a difference below the least effect of interest is none") {
  const std::vector<double> certain = {0.004, 0.0041, 0.0039, 0.004, 0.0042, 0.0038};
  CHECK(compare(certain, 0.01).verdict == Verdict::no_difference);
  CHECK(compare(certain, 0.0).verdict == Verdict::a_slower);
  CHECK(compare(certain, 0.0).p_value < 0.01);
}

TEST_CASE("a verdict names the slower one with its interval") {
  const std::vector<double> a = {0.05, 0.051, 0.049, 0.05, 0.052, 0.048};
  CHECK(to_text(compare(a, 0.01)) == "A is slower by 5.1% [4.9%, 5.4%]");
  std::vector<double> b;
  for (const double value : a) b.push_back(-value);
  CHECK(to_text(compare(b, 0.01)) == "B is slower by 5.1% [4.9%, 5.4%]");
  CHECK(to_text(compare(std::vector<double>{0.1, -0.1, 0.05, -0.06}, 0.01)) == "no difference");
}

TEST_CASE("one process alone decides nothing, and exact equality is no difference") {
  CHECK(compare(std::vector<double>{0.5}, 0).verdict == Verdict::no_difference);
  CHECK(compare(std::vector<double>(8, 0.0), 0).verdict == Verdict::no_difference);
  CHECK(compare(std::vector<double>(8, 0.1), 0).verdict == Verdict::a_slower);
}

}  // namespace
}  // namespace ferry::stats
