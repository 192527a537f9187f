// How often the gate is wrong, and what it finds, with simulated noise. FERRY_GATE_SUITES sets how many suites are
// simulated for each kind of noise. With FERRY_GATE_TABLE the rates are printed as tables in Markdown.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>

#include "host/gate/verdict/decide.h"
#include "host/stats/confidence_sequence.h"
#include "tests/unit/host/gate/verdict/simulated_pairs.h"

namespace ferry::gate {
namespace {

constexpr std::size_t kCases = 20, kPairs = 64;
constexpr double kErrorLevel = 0.01;

int suites() {
  const char* text = std::getenv("FERRY_GATE_SUITES");
  return text == nullptr ? 150 : std::max(1, std::atoi(text));
}

bool prints_tables() { return std::getenv("FERRY_GATE_TABLE") != nullptr; }

// The most events that `trials` of this probability have in all but 1 of 10,000 runs or so.
double most_of(double trials, double probability) {
  return trials * probability + 4 * std::sqrt(trials * probability * (1 - probability)) + 1;
}

struct Outcome {
  Verdict verdict;
  std::size_t pairs;
};

// Decides after every pair, as the gate does.
Outcome run_case(const test::Series& log_ratios, const DecisionRule& rule) {
  for (std::size_t pairs = 1;; ++pairs) {
    const Decision decision = decide(std::span(log_ratios).first(pairs), rule);
    if (decision.state != DecisionState::more) return {decision.verdict, pairs};
  }
}

bool is_alarm(Verdict verdict) { return verdict == Verdict::slower || verdict == Verdict::faster; }

struct Rates {
  int alarms = 0, wrong_suites = 0, undecided = 0;
};

// A tolerance of 0 makes every verdict but "cannot tell" a false alarm, as for a change that equals the tolerance.
Rates false_alarms(const test::NoiseModel& noise, int suites, double tolerance) {
  const DecisionRule rule{.tolerance = tolerance, .level = level_of_case(kErrorLevel, kCases, 1), .most_pairs = kPairs};
  stats::Random random(51);
  Rates rates;
  for (int suite = 0; suite < suites; ++suite) {
    int alarms = 0;
    for (std::size_t i = 0; i < kCases; ++i) {
      const Verdict verdict = run_case(noise.log_ratios(random, kPairs), rule).verdict;
      alarms += is_alarm(verdict);
      rates.undecided += verdict == Verdict::cannot_tell;
    }
    rates.alarms += alarms;
    rates.wrong_suites += alarms > 0;
  }
  return rates;
}

TEST_CASE("a suite of 20 unchanged cases has a false alarm in at most 1% of its runs, whatever the noise") {
  const int count = suites();
  if (prints_tables()) {
    std::printf("| noise | suites with a false alarm | the same at a tolerance of 0 | cases that cannot be told |\n");
    std::printf("| --- | --- | --- | --- |\n");
  }
  for (const test::NoiseModel& noise : test::machine_noise()) {
    CAPTURE(noise.name);
    const Rates strict = false_alarms(noise, count, 0);
    CHECK(strict.wrong_suites <= most_of(count, kErrorLevel));
    CHECK(strict.alarms <= most_of(count, kErrorLevel));
    const Rates usual = false_alarms(noise, count, 0.02);
    CHECK(usual.wrong_suites <= most_of(count, kErrorLevel));
    if (prints_tables()) {
      std::printf("| %s | %.2f%% | %.2f%% | %.1f%% |\n", noise.name.c_str(), 100.0 * usual.wrong_suites / count,
                  100.0 * strict.wrong_suites / count, 100.0 * usual.undecided / (static_cast<double>(count) * kCases));
    }
  }
}

// Returns how many of the trials give a false alarm, with the guard against correlation and without.
std::pair<int, int> guarded_and_not(const test::Draw& log_ratios, int trials) {
  const DecisionRule rule{.tolerance = 0, .level = 0.01, .most_pairs = kPairs};
  stats::Random random(52);
  int guarded = 0, unguarded = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const test::Series values = log_ratios(random, kPairs);
    guarded += is_alarm(run_case(values, rule).verdict);
    test::Series averages;
    bool is_excluded = false;
    for (std::size_t i = 1; i < values.size() && !is_excluded; i += 2) {
      averages.push_back((values[i - 1] + values[i]) / 2);
      const stats::MeanInterval interval = stats::confidence_sequence(averages, rule.level).value();
      is_excluded = interval.low > 0 || interval.high < 0;
    }
    unguarded += is_excluded;
  }
  return {guarded, unguarded};
}

TEST_CASE("the guard against correlation prevents most false alarms of ratios that are correlated") {
  const int trials = 10 * suites();
  for (const double memory : {0.3, 0.6, 0.8}) {
    const auto [guarded, unguarded] = guarded_and_not(test::autoregressive(0.01, memory), trials);
    if (prints_tables()) {
      std::printf("ratios of pairs correlated by %.1f, at a level of 1%%: %.2f%% false alarms, %.2f%% without guard\n",
                  memory, 100.0 * guarded / trials, 100.0 * unguarded / trials);
    }
    CAPTURE(memory);
    CHECK(guarded <= (memory < 0.5 ? 0.8 : 0.5) * unguarded);
    if (memory == 0.3) CHECK(guarded <= most_of(trials, 0.01));
  }
}

TEST_CASE("times that are as skewed as possible give false alarms only if the ratios of pairs are skewed themselves") {
  const int trials = 10 * suites();
  const auto [of_ratios, ignored] = guarded_and_not(test::lognormal(0.01), trials);
  const auto [of_times, ignored_too] = guarded_and_not(test::of_times("", test::lognormal(0.01)).log_ratios, trials);
  if (prints_tables()) {
    std::printf("lognormal noise, at a level of 1%%: %.2f%% false alarms in ratios of pairs, %.2f%% in times\n",
                100.0 * of_ratios / trials, 100.0 * of_times / trials);
  }
  CHECK(of_times <= most_of(trials, 0.01));
  CHECK(of_ratios > 3 * of_times);
}

struct Detection {
  int slower = 0, faster = 0, no_change = 0, cannot_tell = 0;
  double pairs = 0;  // on average
};

Detection detect(const test::Draw& times, test::Roles roles, double change, double tolerance, int trials) {
  const DecisionRule rule{.tolerance = tolerance, .level = level_of_case(kErrorLevel, kCases, 1), .most_pairs = kPairs};
  stats::Random random(53);
  Detection found;
  for (int trial = 0; trial < trials; ++trial) {
    test::Series log_ratios = test::log_ratios_of(times, random, kPairs, roles);
    for (double& log_ratio : log_ratios) log_ratio += std::log1p(change);
    const Outcome outcome = run_case(log_ratios, rule);
    found.slower += outcome.verdict == Verdict::slower;
    found.faster += outcome.verdict == Verdict::faster;
    found.no_change += outcome.verdict == Verdict::no_change;
    found.cannot_tell += outcome.verdict == Verdict::cannot_tell;
    found.pairs += static_cast<double>(outcome.pairs) / trials;
  }
  return found;
}

void print_detections(double tolerance, int trials) {
  const double changes[] = {0, 0.005, 0.01, 0.02, 0.03, 0.05};
  std::printf("\nTolerance %.1f%%: slower / no change / cannot tell in %%, pairs\n| deviation of processes |",
              100 * tolerance);
  for (const double change : changes) std::printf(" %.1f%% |", 100 * change);
  std::printf("\n| --- | --- | --- | --- | --- | --- | --- |\n");
  for (const double deviation : {0.003, 0.005, 0.01, 0.02}) {
    std::printf("| %.1f%% |", 100 * deviation);
    for (const double change : changes) {
      const Detection found = detect(test::normal(deviation), test::Roles::drawn, change, tolerance, trials);
      const double percent = 100.0 / trials;
      std::printf(" %.1f / %.1f / %.1f, %.0f |", found.slower * percent, found.no_change * percent,
                  found.cannot_tell * percent, found.pairs);
    }
    std::printf("\n");
  }
}

TEST_CASE("planted slowdowns beyond the tolerance are found, smaller ones are none, at the noise of real machines") {
  const int trials = 2 * suites();
  if (prints_tables()) {
    for (const double tolerance : {0.02, 0.01, 0.005}) print_detections(tolerance, trials);
  }
  const auto at = [&](double deviation, double change) {
    return detect(test::normal(deviation), test::Roles::drawn, change, 0.02, trials);
  };
  for (const double deviation : {0.003, 0.005, 0.01}) {
    CAPTURE(deviation);
    const Detection clear = at(deviation, 0.05);
    CHECK(clear.slower >= 0.99 * trials);
    CHECK(clear.pairs < 26);
    const Detection none = at(deviation, 0);
    CHECK(none.no_change >= 0.97 * trials);
    CHECK(none.pairs < 36);
  }
  for (const double deviation : {0.003, 0.005}) {
    CHECK(at(deviation, 0.03).slower >= 0.97 * trials);
    CHECK(at(deviation, 0.01).no_change >= 0.97 * trials);
  }
  CHECK(at(0.02, 0.05).slower >= 0.9 * trials);
  // With more noise than the tolerance allows for, the answer is that there is none.
  CHECK(at(0.02, 0.03).cannot_tell >= 0.9 * trials);
  // Exactly at the tolerance, no answer is the right one.
  for (const double deviation : {0.003, 0.02}) {
    const Detection edge = at(deviation, 0.02);
    CHECK(edge.slower + edge.no_change <= most_of(trials, kErrorLevel));
  }
}

TEST_CASE("clear cases without any correlation are told however correlated a few observations seem by chance") {
  const int trials = 10 * suites();
  const Detection found = detect(test::normal(0.003), test::Roles::drawn, 0.05, 0.02, trials);
  CHECK(found.slower >= trials - most_of(trials, 0.001));
}

TEST_CASE("mirrored roles make the order of processes irrelevant") {
  const test::Draw times =
      test::plus(test::normal(0.003), [](std::size_t i, std::size_t) { return i % 2 == 1 ? 0.01 : 0.0; });
  const int trials = 2 * suites();
  const Detection drawn = detect(times, test::Roles::drawn, 0.01, 0.02, trials);
  const Detection mirrored = detect(times, test::Roles::mirrored, 0.01, 0.02, trials);
  if (prints_tables()) {
    std::printf(
        "\nno change of 2%% at 1%%, deviation 0.3%%, the second process slower by 1%%: %.0f pairs, mirrored %.0f\n",
        drawn.pairs, mirrored.pairs);
  }
  CHECK(mirrored.no_change >= 0.98 * trials);
  CHECK(mirrored.pairs < 0.7 * drawn.pairs);
}

}  // namespace
}  // namespace ferry::gate
