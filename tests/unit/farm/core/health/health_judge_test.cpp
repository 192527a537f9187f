#include "farm/core/health/health_judge.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace ferry;
using namespace ferry::farm;

namespace {

const HealthEnvironment kEnvironment{"1f3a", "performance", "6.1.0-rpi7"};

// Sessions of 1 ms, 2 ms and 100 us that are some thousandths apart, with a factor for one of the times.
HealthCheck check(double factor = 1, HealthMetric metric = HealthMetric::compute,
                  const HealthEnvironment& environment = kEnvironment) {
  HealthCheck made{environment, {}};
  for (std::size_t s = 0; s < kHealthSessions; ++s) {
    const double apart = 1 + 0.004 * static_cast<double>(s);
    made.sessions.push_back({1e-3 * apart, 2e-3 * apart, 1e-4 * apart});
    made.sessions.back()[static_cast<std::size_t>(metric)] *= factor;
  }
  return made;
}

HealthJudge taught() {
  HealthJudge judge;
  for (std::size_t i = 0; i < kBaselineChecks; ++i) CHECK(judge.judge(check()).verdict == HealthVerdict::learning);
  REQUIRE(judge.baselines().size() == 1);
  return judge;
}

}  // namespace

TEST_CASE("the baseline is the median of the first checks and their scaled deviation, and stays as it is") {
  HealthJudge judge = taught();
  const HealthBaseline frozen = judge.baselines().front();
  CHECK(frozen.environment == kEnvironment);
  CHECK(frozen.median[0] == doctest::Approx(1.008e-3));
  CHECK(frozen.median[1] == doctest::Approx(2.016e-3));
  CHECK(frozen.deviation[0] == doctest::Approx(1.4826 * 0.004e-3));
  for (int i = 0; i < 100; ++i) CHECK(judge.judge(check(1.04)).verdict == HealthVerdict::passed);
  CHECK(judge.baselines() == std::vector{frozen});
}

TEST_CASE("a board fails once it deviates twice in the same way, and passes again when it is as before") {
  for (const HealthMetric metric : {HealthMetric::compute, HealthMetric::memory, HealthMetric::ping}) {
    for (const double factor : {1.06, 0.9}) {
      CAPTURE(health_metric_name(metric));
      CAPTURE(factor);
      HealthJudge judge = taught();
      CHECK(judge.judge(check()).verdict == HealthVerdict::passed);
      CHECK(judge.judge(check(factor, metric)).verdict == HealthVerdict::unconfirmed);
      CHECK(judge.judge(check(factor, metric)).verdict == HealthVerdict::failed);
      CHECK(judge.judge(check(factor, metric)).verdict == HealthVerdict::unconfirmed);
      CHECK(judge.judge(check()).verdict == HealthVerdict::passed);
      CHECK(judge.judge(check(factor, metric)).verdict == HealthVerdict::unconfirmed);
    }
  }
}

TEST_CASE("a deviation in another way confirms nothing") {
  HealthJudge judge = taught();
  CHECK(judge.judge(check(1.2)).verdict == HealthVerdict::unconfirmed);
  CHECK(judge.judge(check(0.8)).verdict == HealthVerdict::unconfirmed);
  CHECK(judge.judge(check(1.2, HealthMetric::memory)).verdict == HealthVerdict::unconfirmed);
}

TEST_CASE("the reason says what took how long, and what was expected") {
  HealthJudge judge = taught();
  CHECK(judge.judge(check(1.2)).reason == "compute takes 1.21 ms, baseline 1.01 ms, expected at most 1.06 ms");
  CHECK(judge.judge(check(0.8, HealthMetric::memory)).reason ==
        "memory takes 1.61 ms, baseline 2.02 ms, expected at least 1.92 ms");
}

TEST_CASE("each environment has a baseline of its own") {
  HealthJudge judge = taught();
  HealthEnvironment slower = kEnvironment;
  slower.governor = "powersave";
  for (std::size_t i = 0; i < kBaselineChecks; ++i)
    CHECK(judge.judge(check(2, HealthMetric::compute, slower)).verdict == HealthVerdict::learning);
  CHECK(judge.judge(check(2, HealthMetric::compute, slower)).verdict == HealthVerdict::passed);
  CHECK(judge.judge(check()).verdict == HealthVerdict::passed);
  HealthJudge restarted(judge.knowledge());
  CHECK(restarted.judge(check(2)).verdict == HealthVerdict::unconfirmed);
  restarted.forget(kEnvironment);
  CHECK(restarted.judge(check(2)).verdict == HealthVerdict::learning);
}

TEST_CASE("a judge that continues with what another one knew gives the same verdicts") {
  const std::vector<HealthCheck> checks = [] {
    std::vector<HealthCheck> made(kBaselineChecks, check());
    for (const double factor : {1.2, 1.2, 1.0, 0.8, 1.2, 1.2}) made.push_back(check(factor));
    return made;
  }();
  HealthJudge judge, restarted;
  for (const HealthCheck& one : checks) {
    const HealthJudgement expected = judge.judge(one), got = restarted.judge(one);
    CHECK(got.verdict == expected.verdict);
    CHECK(got.reason == expected.reason);
    CHECK(got.deviating == expected.deviating);
    CHECK(got.baseline == expected.baseline);
    CHECK(restarted.knowledge() == judge.knowledge());
    restarted = HealthJudge(restarted.knowledge());
  }
}

TEST_CASE("environments without end take the place of old ones") {
  HealthJudge judge;
  for (std::size_t e = 0; e < kMaxBaselines + 3; ++e)
    for (std::size_t i = 0; i < kBaselineChecks; ++i)
      judge.judge(check(1, HealthMetric::compute, {std::to_string(e), "", ""}));
  CHECK(judge.baselines().size() == kMaxBaselines);
  CHECK(judge.baselines().front().environment.kernel == "3");
}

TEST_CASE("what is no time fails at once") {
  HealthJudge judge = taught();
  for (const double seconds : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    HealthCheck lies = check();
    lies.sessions[3][1] = seconds;
    CHECK(judge.judge(lies).verdict == HealthVerdict::failed);
  }
  HealthCheck few = check();
  few.sessions.pop_back();
  CHECK(judge.judge(few).reason == "expected the positive times of 5 sessions");
}
