// What is concluded of a case without comparing times: its verdict, the limits of its current side, and failures.
#pragma once

#include <string>
#include <vector>

#include "host/gate/api/report.h"
#include "host/gate/api/suite.h"
#include "host/gate/run/side_failed.h"
#include "host/gate/store/store.h"

namespace ferry::gate {

void conclude(CaseResult& result, Verdict verdict, std::string reason);

// Judges by the case's limits what is known of the current side. A slowdown is more than a limit.
void conclude_limits(CaseResult& result, const Limits& limits);

// The baseline's side, or nobody knows which, has failed: nothing can be told of the current one. The current one's
// failure is wrong.
void conclude_failure(CaseResult& result, const SideFailed& failure);

// Returns a hint for a case that has no baseline for its target while cases of the baseline are missing from the suite:
// a case under a new name lets every change pass once. Empty if there are none, or so many that it would help nobody.
std::string rename_hint(const std::vector<CaseTarget>& missing_cases, const std::string& target);

}  // namespace ferry::gate
