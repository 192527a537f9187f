#include "host/gate/verdict/decide.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ferry/error.h"
#include "host/stats/confidence_sequence.h"

namespace ferry::gate {
namespace {

// Independent-looking log-ratios around log(ratio): the averages of neighbours alternate, so that they are not
// positively correlated.
std::vector<double> around(double ratio, double spread, std::size_t pairs) {
  std::vector<double> log_ratios;
  for (std::size_t i = 0; i < pairs; ++i) log_ratios.push_back(std::log(ratio) + (i % 4 < 2 ? spread : -spread));
  return log_ratios;
}

std::string error_of(const auto& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("a case is slower, faster or unchanged where the whole interval lies beyond or within the tolerance") {
  const DecisionRule rule{.tolerance = 0.02, .level = 0.001};
  const auto verdict = [&](double ratio) {
    const Decision decision = decide(around(ratio, 0.001, 24), rule);
    CHECK(decision.state == DecisionState::decided);
    CHECK(decision.reason.empty());
    CHECK(decision.change.ratio == doctest::Approx(ratio));
    CHECK(decision.change.low < ratio);
    CHECK(decision.change.high > ratio);
    return decision.verdict;
  };
  CHECK(verdict(1.03) == Verdict::slower);
  CHECK(verdict(1.0) == Verdict::no_change);
  CHECK(verdict(1.015) == Verdict::no_change);
  CHECK(verdict(1 / 1.015) == Verdict::no_change);
  CHECK(verdict(1 / 1.03) == Verdict::faster);
  CHECK(verdict(25) == Verdict::slower);
}

TEST_CASE("exchanging the sides exchanges slower and faster") {
  const DecisionRule rule{.tolerance = 0.03, .level = 0.01};
  for (const double ratio : {1.0, 1.02, 1.028, 1.03, 1.032, 1.04, 1.5}) {
    CAPTURE(ratio);
    const std::vector<double> log_ratios = around(ratio, 0.002, 30);
    std::vector<double> exchanged;
    for (const double log_ratio : log_ratios) exchanged.push_back(-log_ratio);
    const Decision forward = decide(log_ratios, rule), backward = decide(exchanged, rule);
    CHECK(forward.change.low == doctest::Approx(1 / backward.change.high).epsilon(1e-12));
    CHECK((forward.verdict == Verdict::slower) == (backward.verdict == Verdict::faster));
    CHECK((forward.verdict == Verdict::no_change) == (backward.verdict == Verdict::no_change));
  }
}

TEST_CASE("the interval is the confidence sequence of the averages of neighbouring pairs, and an odd pair waits") {
  std::vector<double> pairs = {0.01, 0.05, 0.02,  -0.02, 0.03, 0.01, 0.00, 0.08, 0.02,
                               0.00, 0.05, -0.03, 0.01,  0.05, 0.01, 0.01, 0.03, 0.05};
  std::vector<double> averages;
  for (std::size_t i = 0; i < pairs.size(); i += 2) averages.push_back((pairs[i] + pairs[i + 1]) / 2);
  const DecisionRule rule{.tolerance = 0.02, .level = 0.01};
  const Decision decision = decide(pairs, rule);
  REQUIRE(decision.correlation < 0);  // so that nothing is widened
  const stats::MeanInterval interval = stats::confidence_sequence(averages, 0.01).value();
  CHECK(decision.change.ratio == doctest::Approx(std::exp(interval.mean)));
  CHECK(decision.change.low == doctest::Approx(std::exp(interval.low)));
  CHECK(decision.change.high == doctest::Approx(std::exp(interval.high)));
  pairs.push_back(5);
  CHECK(decide(pairs, rule).change.low == decision.change.low);
  std::vector<Pair> as_pairs;
  for (const double log_ratio : pairs) as_pairs.push_back({.seconds = {}, .log_ratio = log_ratio});
  CHECK(decide(as_pairs, rule).change.low == decision.change.low);
}

TEST_CASE("without enough pairs nothing is said, and more are asked for until the budget is spent") {
  const DecisionRule rule{.tolerance = 0.02, .level = 0.01, .most_pairs = 10};
  CHECK(least_pairs(0.01) == 12);
  CHECK(least_pairs(level_of_case(0.01, 20, 1)) == 16);
  for (std::size_t pairs = 0; pairs < 10; ++pairs) {
    const Decision decision = decide(around(1.5, 0.001, pairs), rule);
    CHECK(decision.state == DecisionState::more);
    CHECK(decision.verdict == Verdict::cannot_tell);
    CHECK(decision.change.low == 0);
    CHECK(std::isinf(decision.change.high));
    CHECK(decision.reason.empty());
  }
  const Decision spent = decide(around(1.5, 0.001, 10), rule);
  CHECK(spent.state == DecisionState::spent);
  CHECK(spent.reason == "10 pairs cannot decide: at this error level it takes at least 12");
  CHECK(decide(around(1.5, 0.001, 12), rule).verdict == Verdict::slower);
}

TEST_CASE("at the budget the reason is the interval that crosses the tolerance") {
  const DecisionRule rule{.tolerance = 0.02, .level = 0.01, .most_pairs = 16};
  const Decision decision = decide(around(1.013, 0.01, 16), rule);
  CHECK(decision.state == DecisionState::spent);
  CHECK(decision.verdict == Verdict::cannot_tell);
  CHECK(
      decision.reason.starts_with("the interval [-1.1%, +3.8%] crosses the tolerance of 2% after 16 pairs; the pairs "
                                  "form groups that are 2.0% apart"));
  CHECK(decide(around(1.013, 0.01, 15), rule).state == DecisionState::more);
}

TEST_CASE("correlated pairs widen the interval, and where they hinder a verdict the reason says so") {
  const DecisionRule rule{.tolerance = 0.02, .level = 0.01, .most_pairs = 64};
  std::vector<double> waves, alternating;
  for (int i = 0; i < 64; ++i) {
    waves.push_back(0.01 + 0.01 * (i % 32 < 16 ? 1 : -1));
    alternating.push_back(0.01 + 0.01 * (i % 4 < 2 ? 1 : -1));
  }
  const Decision correlated = decide(waves, rule), independent = decide(alternating, rule);
  CHECK(correlated.correlation > 0.7);
  CHECK(independent.correlation < 0);
  CHECK(independent.verdict == Verdict::no_change);
  CHECK(correlated.state == DecisionState::spent);
  CHECK(correlated.change.high > std::exp(0.01 + 3 * std::log(independent.change.high / std::exp(0.01))));
  CHECK(correlated.reason.starts_with("neighbouring pairs are correlated (0."));
  CAPTURE(correlated.reason);
  CHECK(correlated.reason.find("%] that allows for it crosses the tolerance of 2% after 64 pairs; ") !=
        std::string::npos);
  // A change that is far beyond the noise remains clear.
  for (double& log_ratio : waves) log_ratio += 0.5;
  CHECK(decide(waves, rule).verdict == Verdict::slower);
}

TEST_CASE("equal ratios decide as soon as there are enough, whatever their correlation would be") {
  const DecisionRule rule{.tolerance = 0.0, .level = 0.01};
  CHECK(decide(std::vector<double>(12, 0.0), rule).verdict == Verdict::no_change);
  CHECK(decide(std::vector<double>(12, 0.001), rule).verdict == Verdict::slower);
  CHECK(decide(std::vector<double>(12, -0.001), rule).verdict == Verdict::faster);
  CHECK(decide(std::vector<double>(12, 0.0), rule).correlation == 0);
}

TEST_CASE("the error level is divided among all cases on all boards") {
  CHECK(level_of_case(0.01, 20, 1) == doctest::Approx(0.0005));
  CHECK(level_of_case(0.05, 5, 4) == doctest::Approx(0.0025));
  CHECK(error_of([] { level_of_case(0.01, 0, 1); }) == "expected at least one case on at least one board, got 0 on 1");
  CHECK(error_of([] { level_of_case(1.5, 1, 1); }) == "expected an error level between 0 and 1, got 1.50");
  CHECK(error_of([] { level_of_case(std::nan(""), 1, 1); }) == "expected an error level between 0 and 1, got nan");
}

TEST_CASE("a rule out of range and ratios that are not finite are refused") {
  const std::vector<double> fine(12, 0.0);
  CHECK(error_of([&] { decide(fine, {.tolerance = -0.01}); }) == "expected a tolerance of at least 0, got -0.0100");
  CHECK(error_of([&] { decide(fine, {.tolerance = std::nan("")}); }) == "expected a tolerance of at least 0, got nan");
  CHECK(error_of([&] { decide(fine, {.level = 0}); }) == "expected a level between 0 and 1, got 0");
  CHECK(error_of([&] { decide(fine, {.level = 1}); }) == "expected a level between 0 and 1, got 1.00");
  CHECK(error_of([&] { decide(fine, {.most_pairs = 0}); }) == "expected a budget of at least 1 pair, got 0");
  CHECK(error_of([] { least_pairs(0); }) == "expected a level between 0 and 1, got 0");
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    std::vector<double> values = fine;
    values[3] = bad;
    CHECK(error_of([&] {
            decide(values, {});
          }).starts_with("expected times whose ratio is finite and above 0, got the logarithm "));
  }
}

TEST_CASE("ratios as large as numbers can be are told without overflow") {
  const Decision decision = decide(std::vector<double>(12, 1e308), {});
  CHECK(decision.verdict == Verdict::slower);
  CHECK(std::isinf(decision.change.ratio));
  std::vector<double> mixed;
  for (int i = 0; i < 64; ++i) mixed.push_back(i % 4 < 2 ? 700 : -700);
  CHECK(decide(mixed, {}).state == DecisionState::spent);
}

}  // namespace
}  // namespace ferry::gate
