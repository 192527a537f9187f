#include "farm/core/health/health_judge.h"

#include "base/format.h"
#include "base/quantity_text.h"
#include "host/stats/summary.h"

#include <algorithm>
#include <cmath>

namespace ferry::farm {
namespace {

// Times the median absolute deviation, it estimates the standard deviation of normal noise.
constexpr double kScale = 1.4826;

std::vector<double> times_of(const std::vector<HealthTimes>& sessions, std::size_t metric) {
  std::vector<double> times;
  for (const HealthTimes& session : sessions) times.push_back(session[metric]);
  return times;
}

bool are_times(const HealthCheck& check) {
  return check.sessions.size() == kHealthSessions &&
         std::ranges::all_of(check.sessions, [](const HealthTimes& session) {
           return std::ranges::all_of(session, [](double seconds) { return std::isfinite(seconds) && seconds > 0; });
         });
}

HealthBaseline baseline_of(const HealthCheck& learned) {
  HealthBaseline baseline{learned.environment, {}, {}};
  for (std::size_t m = 0; m < kHealthMetrics; ++m) {
    const std::vector<double> times = times_of(learned.sessions, m);
    baseline.median[m] = stats::median(times);
    baseline.deviation[m] = kScale * stats::median_deviation(times);
  }
  return baseline;
}

}  // namespace

const char* health_metric_name(HealthMetric metric) {
  switch (metric) {
    case HealthMetric::compute: return "compute";
    case HealthMetric::memory: return "memory";
    case HealthMetric::ping: return "ping";
  }
  return "";
}

HealthJudgement HealthJudge::learn(const HealthCheck& check) {
  if (known_.learned.environment != check.environment) known_.learned = {check.environment, {}};
  known_.learned.sessions.insert(known_.learned.sessions.end(), check.sessions.begin(), check.sessions.end());
  if (known_.learned.sessions.size() < kBaselineChecks * kHealthSessions) return {};
  if (known_.baselines.size() == kMaxBaselines) known_.baselines.erase(known_.baselines.begin());
  known_.baselines.push_back(baseline_of(known_.learned));
  known_.learned = {};
  return {};
}

HealthJudgement HealthJudge::judge(const HealthCheck& check) {
  if (!are_times(check)) {
    return {HealthVerdict::failed, format("expected the positive times of %zu sessions", kHealthSessions)};
  }
  const auto baseline = std::ranges::find(known_.baselines, check.environment, &HealthBaseline::environment);
  if (baseline == known_.baselines.end()) {
    known_.unconfirmed.reset();
    return learn(check);
  }
  for (std::size_t m = 0; m < kHealthMetrics; ++m) {
    const double expected = baseline->median[m], got = stats::median(times_of(check.sessions, m));
    const double most = std::max(kHealthTolerance * expected, kHealthDeviations * baseline->deviation[m]);
    if (std::abs(got - expected) <= most) continue;
    const HealthDeviation deviation{check.environment, static_cast<HealthMetric>(m), got > expected};
    const std::string reason =
        format("%s takes %s, baseline %s, expected at %s %s", health_metric_name(deviation.metric),
               seconds_text(got).c_str(), seconds_text(expected).c_str(), deviation.is_slower ? "most" : "least",
               seconds_text(deviation.is_slower ? expected + most : expected - most).c_str());
    const bool is_confirmed = known_.unconfirmed == deviation;
    known_.unconfirmed = is_confirmed ? std::nullopt : std::optional(deviation);
    return {is_confirmed ? HealthVerdict::failed : HealthVerdict::unconfirmed, reason, deviation.metric,
            baseline->median};
  }
  known_.unconfirmed.reset();
  return {HealthVerdict::passed, "", {}, baseline->median};
}

void HealthJudge::forget(const HealthEnvironment& environment) {
  std::erase_if(known_.baselines, [&](const HealthBaseline& one) { return one.environment == environment; });
  known_.learned = {};
  known_.unconfirmed.reset();
}

}  // namespace ferry::farm
