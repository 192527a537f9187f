#include "farm/checkup/health_history.h"

#include <algorithm>

#include "base/format.h"
#include "farm/checkup/judge_state.h"
#include "host/stats/summary.h"

namespace ferry::farm {
namespace {

// In the words of the protocol (farm/FARM.md, health check).
constexpr const char* kPassed = "passed";
constexpr const char* kFailed = "failed";
constexpr const char* kMeasuring = "measuring";

std::uint64_t picoseconds(double seconds) {
  constexpr double kMost = 9e18;
  return seconds > 0 ? static_cast<std::uint64_t>(std::min(seconds * 1e12, kMost)) : 0;
}

double median_of(const HealthCheck& check, std::size_t metric) {
  std::vector<double> times;
  for (const HealthTimes& session : check.sessions) times.push_back(session[metric]);
  return stats::median(times);
}

HealthEntry entry_of(const HealthOutcome& outcome, Time at, HealthMetric metric) {
  HealthEntry entry;
  entry.board = outcome.board;
  entry.at = at;
  entry.job = health_metric_name(metric);
  entry.millidegrees = outcome.millidegrees;
  return entry;
}

std::vector<HealthEntry> entries_of(const HealthOutcome& outcome, const HealthJudgement& judgement, Time at) {
  std::vector<HealthEntry> entries;
  for (std::size_t m = 0; m < kHealthMetrics; ++m) {
    const auto metric = static_cast<HealthMetric>(m);
    HealthEntry& entry = entries.emplace_back(entry_of(outcome, at, metric));
    entry.picoseconds = picoseconds(median_of(outcome.check, m));
    if (judgement.baseline) entry.baseline_picoseconds = picoseconds((*judgement.baseline)[m]);
    const bool is_deviating =
        judgement.deviating == metric || (judgement.verdict == HealthVerdict::failed && !judgement.deviating);
    entry.verdict = is_deviating ? kFailed : judgement.verdict == HealthVerdict::learning ? kMeasuring : kPassed;
    if (is_deviating) entry.text = judgement.reason;
    if (is_deviating && judgement.verdict == HealthVerdict::unconfirmed) entry.text += "; to be confirmed";
  }
  return entries;
}

}  // namespace

std::vector<std::string> HealthHistory::load(std::span<const HealthState> states) {
  std::vector<std::string> failures;
  for (const HealthState& state : states) {
    Result<HealthKnowledge> knowledge = parse_knowledge(state.state);
    if (knowledge.is_ok()) {
      judges_.insert_or_assign(state.board, HealthJudge(std::move(knowledge.value())));
    } else {
      failures.push_back(
          format("board %llu: %s", static_cast<unsigned long long>(state.board), knowledge.status().message().c_str()));
    }
  }
  return failures;
}

JudgedCheck HealthHistory::judge(const HealthOutcome& outcome, Time at) {
  HealthJudge& judge = judges_[outcome.board];
  JudgedCheck judged;
  if (outcome.end == CheckEnd::measured) {
    const HealthJudgement judgement = judge.judge(outcome.check);
    judged.verdict = judgement.verdict;
    judged.reason = judgement.reason;
    judged.entries = entries_of(outcome, judgement, at);
  } else {
    if (outcome.end == CheckEnd::failed || outcome.end == CheckEnd::timed_out) judged.verdict = HealthVerdict::failed;
    judged.reason = outcome.text;
    if (outcome.end != CheckEnd::cancelled) {
      HealthEntry& entry = judged.entries.emplace_back(entry_of(outcome, at, outcome.job));
      entry.verdict = kFailed;
      entry.text = outcome.text;
    }
  }
  judged.state = {outcome.board, knowledge_text(judge.knowledge())};
  return judged;
}

HealthState HealthHistory::forget(BoardId board) {
  judges_[board] = HealthJudge();
  return {board, knowledge_text({})};
}

}  // namespace ferry::farm
