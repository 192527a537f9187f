#include "ferry/stats/comparison.h"

#include <doctest/doctest.h>

#include "tests/unit/host/stats/noise_models.h"

namespace ferry::stats {
namespace {

// Simulates log ratios of processes: the effect plus a contribution of each process's memory layout.
std::vector<double> processes(Random& random, int count, double effect, double layout) {
  std::vector<double> ratios;
  for (int i = 0; i < count; ++i) ratios.push_back(effect + layout * random.normal());
  return ratios;
}

TEST_CASE("equal kernels are told apart in at most 1% of comparisons, whatever the layouts do") {
  Random random(21);
  int wrong = 0;
  const int trials = test::trials_of(2500);
  for (int trial = 0; trial < trials; ++trial) {
    const Verdict verdict = compare(processes(random, 12, 0, 0.02), 0).verdict;
    wrong += verdict == Verdict::a_slower || verdict == Verdict::b_slower;
  }
  MESSAGE("false verdicts: " << 100.0 * wrong / trials << "% of " << trials);
  CHECK(wrong <= trials * 0.013);
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
  CHECK(to_text(compare(a, 0.01), 0.01) == "A is slower by 5.1% [4.9%, 5.4%]");
  std::vector<double> b;
  for (const double value : a) b.push_back(-value);
  CHECK(to_text(compare(b, 0.01), 0.01) == "B is slower by 5.1% [4.9%, 5.4%]");
}

TEST_CASE("no difference is said only when the whole interval lies within the least effect") {
  const std::vector<double> close = {0.001, -0.001, 0.0005, -0.0006, 0.0008, -0.0007};
  const Comparison same = compare(close, 0.01);
  CHECK(same.verdict == Verdict::no_difference);
  CHECK(to_text(same, 0.01) == "no difference of 1.0% or more");
  CHECK(compare(close, 0.0001).verdict == Verdict::unknown);
}

TEST_CASE("a wide interval says that nobody can tell, and how many processes probably could") {
  Random random(23);
  const std::vector<double> few = processes(random, 5, 0.0, 0.1);
  const Comparison wide = compare(few, 0.05);
  REQUIRE(wide.verdict == Verdict::unknown);
  CHECK(wide.low < 0.95);
  CHECK(wide.high > 1.05);
  CHECK(to_text(wide, 0.05).starts_with("cannot tell: A is between "));
  CHECK(to_text(wide, 0.05).find("% faster and ") != std::string::npos);
  CHECK(to_text(wide, 0.05).ends_with("% slower than B"));
  REQUIRE(wide.enough_processes.has_value());
  CHECK(*wide.enough_processes > 5);
  // With this many processes, intervals are as narrow as promised on average.
  int told = 0;
  for (int trial = 0; trial < 200; ++trial)
    told += compare(processes(random, 200, 0.0, 0.1), 0.05).verdict == Verdict::no_difference;
  CHECK(told >= 190);
  const Comparison one_side = compare(std::vector<double>{0.003, 0.012, 0.006, 0.002, 0.011, 0.006}, 0.01);
  CHECK(one_side.verdict == Verdict::unknown);
  CHECK(!compare(std::vector<double>{0.1, -0.1}, 0).enough_processes.has_value());
}

TEST_CASE("a difference in one direction only that may be too small to matter is told as such") {
  Comparison comparison;
  comparison.low = 1.002;
  comparison.high = 1.016;
  CHECK(to_text(comparison, 0.01) == "cannot tell: A is between 0.2% and 1.6% slower than B");
  // What both ends have in common is also their unit.
  comparison.low = 1.5;
  comparison.high = 3;
  CHECK(to_text(comparison, 0.01) == "cannot tell: A is between 1.5 and 3.0 times slower than B");
  comparison.low = 0.2;
  comparison.high = 0.8;
  CHECK(to_text(comparison, 0.01) == "cannot tell: A is between 5.0 and 1.2 times faster than B");
}

TEST_CASE("from twice as slow on, a verdict is a factor") {
  const auto around = [](double ratio, double spread) {
    return std::vector<double>{std::log(ratio) - spread, std::log(ratio), std::log(ratio) + spread, std::log(ratio)};
  };
  CHECK(to_text(compare(around(7, 0.001), 0.01), 0.01) == "A is 7.0 times slower than B [7.0, 7.0]");
  CHECK(to_text(compare(around(1.0 / 150, 0.001), 0.01), 0.01) == "B is 150 times slower than A [150, 150]");
  CHECK(to_text(compare(around(1.95, 0.0001), 0.01), 0.01).starts_with("A is slower by 95.0% ["));
  CHECK(to_text(compare(around(1, 1), 0.01), 0.01).find(" times faster and ") != std::string::npos);
}

TEST_CASE("whether B is slower by a limit is answered by the whole interval") {
  Comparison comparison;  // A's time over B's
  comparison.low = 1 / 1.2;
  comparison.high = 1 / 1.1;
  CHECK(slowdown(comparison, 0.05) == Slowdown::yes);
  CHECK(slowdown(comparison, 0.15) == Slowdown::unknown);
  CHECK(slowdown(comparison, 0.25) == Slowdown::no);
  CHECK(slowdown(compare(std::vector<double>{0.5}, 0), 0.05) == Slowdown::unknown);
}

TEST_CASE("one process alone decides nothing, and exact equality is no difference") {
  CHECK(compare(std::vector<double>{0.5}, 0).verdict == Verdict::unknown);
  CHECK(compare({}, 0).verdict == Verdict::unknown);
  CHECK(std::isnan(compare({}, 0).ratio));
  CHECK(slowdown(compare({}, 0), 0.05) == Slowdown::unknown);
  CHECK(compare(std::vector<double>(8, 0.0), 0).verdict == Verdict::no_difference);
  CHECK(compare(std::vector<double>(8, 0.1), 0).verdict == Verdict::a_slower);
}

}  // namespace
}  // namespace ferry::stats
