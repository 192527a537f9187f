// Verdicts and rows from outcomes of checks, also across restarts of the tracker.
#include "farm/checkup/health_history.h"

#include <doctest/doctest.h>

#include "base/format.h"

namespace ferry::test {
namespace {

using namespace farm;

constexpr BoardId kBoard{7};
const Time kNow{Duration(1'767'225'600'000)};

HealthOutcome measured(double factor = 1, HealthMetric metric = HealthMetric::compute) {
  HealthOutcome outcome;
  outcome.board = kBoard;
  outcome.end = CheckEnd::measured;
  outcome.millidegrees = 41'500;
  outcome.check.environment = {"1f3a", "performance", "Linux 6.1"};
  for (std::size_t s = 0; s < kHealthSessions; ++s) {
    const double apart = 1 + 0.004 * static_cast<double>(s);
    outcome.check.sessions.push_back({1e-3 * apart, 2e-3 * apart, 1e-4 * apart});
    outcome.check.sessions.back()[static_cast<std::size_t>(metric)] *= factor;
  }
  return outcome;
}

HealthOutcome ended(CheckEnd end, const std::string& text) {
  HealthOutcome outcome;
  outcome.board = kBoard;
  outcome.end = end;
  outcome.job = HealthMetric::memory;
  outcome.text = text;
  return outcome;
}

std::string line(const HealthEntry& entry) {
  return format("%s %llu/%llu %s %d %s", entry.job.c_str(), static_cast<unsigned long long>(entry.picoseconds),
                static_cast<unsigned long long>(entry.baseline_picoseconds), entry.verdict.c_str(),
                entry.millidegrees.value_or(-1), entry.text.c_str());
}

// Judges with a book that is made anew from the last state each time, as after a restart.
class Restarting {
 public:
  JudgedCheck judge(const HealthOutcome& outcome) {
    HealthHistory book;
    CHECK(book.load(states_).empty());
    const JudgedCheck judged = book.judge(outcome, kNow);
    states_ = {judged.state};
    return judged;
  }

 private:
  std::vector<HealthState> states_;
};

TEST_CASE("a board is measured, passes, and fails after a confirmation, whether the tracker restarts or not") {
  Restarting restarting;
  HealthHistory book;
  const auto judge = [&](const HealthOutcome& outcome) {
    const JudgedCheck judged = book.judge(outcome, kNow), again = restarting.judge(outcome);
    CHECK(again.verdict == judged.verdict);
    CHECK(again.reason == judged.reason);
    CHECK(again.state.state == judged.state.state);
    CHECK(judged.state.board == kBoard);
    return judged;
  };
  for (std::size_t i = 0; i < kBaselineChecks; ++i) {
    const JudgedCheck judged = judge(measured());
    CHECK(judged.verdict == HealthVerdict::learning);
    REQUIRE(judged.entries.size() == 3);
    CHECK(line(judged.entries[0]) == "compute 1008000000/0 measuring 41500 ");
    CHECK(line(judged.entries[2]) == "ping 100800000/0 measuring 41500 ");
    CHECK(judged.entries[0].board == kBoard);
    CHECK(judged.entries[0].at == kNow);
  }
  CHECK(line(judge(measured(1.01)).entries[0]) == "compute 1018080000/1008000000 passed 41500 ");
  const JudgedCheck slow = judge(measured(1.2, HealthMetric::memory));
  CHECK(slow.verdict == HealthVerdict::unconfirmed);
  CHECK(slow.entries[0].verdict == "passed");
  CHECK(line(slow.entries[1]) ==
        "memory 2419200000/2016000000 failed 41500 memory takes 2.42 ms, baseline 2.02 ms, expected at most 2.12 ms; "
        "to be confirmed");
  const JudgedCheck confirmed = judge(measured(1.2, HealthMetric::memory));
  CHECK(confirmed.verdict == HealthVerdict::failed);
  CHECK(confirmed.reason == "memory takes 2.42 ms, baseline 2.02 ms, expected at most 2.12 ms");
  CHECK(confirmed.entries[1].text == confirmed.reason);
  CHECK(judge(measured()).verdict == HealthVerdict::passed);
}

TEST_CASE("what was not measured teaches nothing, and says what went wrong where") {
  HealthHistory book;
  for (std::size_t i = 0; i < kBaselineChecks; ++i) book.judge(measured(), kNow);
  const std::string before = book.judge(measured(), kNow).state.state;
  const struct {
    CheckEnd end;
    std::optional<HealthVerdict> verdict;
    std::size_t entries;
  } cases[] = {{CheckEnd::inconclusive, std::nullopt, 1},
               {CheckEnd::failed, HealthVerdict::failed, 1},
               {CheckEnd::timed_out, HealthVerdict::failed, 1},
               {CheckEnd::cancelled, std::nullopt, 0}};
  for (const auto& one : cases) {
    const JudgedCheck judged = book.judge(ended(one.end, "it crashed"), kNow);
    CHECK(judged.verdict == one.verdict);
    CHECK(judged.reason == "it crashed");
    CHECK(judged.state.state == before);
    REQUIRE(judged.entries.size() == one.entries);
    if (one.entries == 1) CHECK(line(judged.entries[0]) == "memory 0/0 failed -1 it crashed");
  }
}

TEST_CASE("times that are none fail, and their rows stay within the store's numbers") {
  HealthHistory book;
  HealthOutcome lies = measured();
  for (HealthTimes& session : lies.check.sessions) session = {0, -5, 1e300};
  const JudgedCheck judged = book.judge(lies, kNow);
  CHECK(judged.verdict == HealthVerdict::failed);
  CHECK(judged.entries[1].picoseconds == 0);
  CHECK(judged.entries[2].picoseconds == 9'000'000'000'000'000'000U);
  CHECK(judged.entries[2].verdict == "failed");
}

TEST_CASE("a damaged state is named and the board is measured anew, as one is that was repaired") {
  HealthHistory book;
  for (std::size_t i = 0; i < kBaselineChecks; ++i) book.judge(measured(), kNow);
  const HealthState good = book.judge(measured(), kNow).state;
  const std::vector<HealthState> states = {{BoardId{8}, "{}"}, good};
  HealthHistory restarted;
  const auto failures = restarted.load(states);
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].find("board 8: what is known of a board's health is damaged: ") == 0);
  CHECK(restarted.judge(measured(), kNow).verdict == HealthVerdict::passed);
  HealthOutcome other = measured();
  other.board = BoardId{8};
  CHECK(restarted.judge(other, kNow).verdict == HealthVerdict::learning);

  const HealthState forgotten = restarted.forget(kBoard);
  HealthHistory after;
  CHECK(after.load({&forgotten, 1}).empty());
  CHECK(after.judge(measured(), kNow).verdict == HealthVerdict::learning);
  CHECK(restarted.judge(measured(), kNow).verdict == HealthVerdict::learning);
}

}  // namespace
}  // namespace ferry::test
