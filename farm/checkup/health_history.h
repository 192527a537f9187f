// Knows the health of all boards, and turns their checks into verdicts and rows for the store.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "farm/checkup/health_check.h"
#include "farm/core/health/health_judge.h"
#include "farm/store/board_logs.h"

namespace ferry::farm {

struct JudgedCheck {
  // Nothing: the check says nothing about the board. A board that was not measured because a job failed has failed.
  std::optional<HealthVerdict> verdict;
  std::string reason;                // given for everything but passed and learning
  std::vector<HealthEntry> entries;  // for Store::add_health_entry()
  HealthState state;                 // for Store::set_health_state()
};

// Not thread-safe.
class HealthHistory {
 public:
  // Continues from what the store keeps. Returns a sentence for each state that is damaged; such a board is measured
  // anew.
  std::vector<std::string> load(std::span<const HealthState> states);

  JudgedCheck judge(const HealthOutcome& outcome, Time at);

  // Measures the board anew, because it was repaired, say. The state is for the store.
  HealthState forget(BoardId board);

 private:
  std::map<BoardId, HealthJudge> judges_;
};

}  // namespace ferry::farm
