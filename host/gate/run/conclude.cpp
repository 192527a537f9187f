#include "host/gate/run/conclude.h"

#include <utility>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "host/gate/run/current_limits.h"

namespace ferry::gate {
namespace {

// More names than these would help nobody to remember a renamed case.
constexpr std::size_t kMostMissingNames = 3;

}  // namespace

void conclude(CaseResult& result, Verdict verdict, std::string reason) {
  result.verdict = verdict;
  result.reason = std::move(reason);
}

void conclude_limits(CaseResult& result, const Limits& limits) {
  const std::string beyond = beyond_limits(limits, result.sides[Side::current], result.share_of_peak);
  if (beyond.empty()) return;
  if (result.verdict == Verdict::slower) return conclude(result, Verdict::slower, "also over a limit: " + beyond);
  const std::string otherwise = to_text(result.verdict) + (result.reason.empty() ? "" : ", " + result.reason);
  conclude(result, Verdict::over_limit, beyond + "; otherwise: " + otherwise);
}

void conclude_failure(CaseResult& result, const SideFailed& failure) {
  if (!failure.side()) return conclude(result, Verdict::cannot_tell, failure.what());
  switch (*failure.side()) {
    case Side::baseline:
      return conclude(result, Verdict::cannot_tell, "the baseline's kernel fails: " + std::string(failure.what()));
    case Side::current: return conclude(result, Verdict::wrong, failure.what());
  }
}

std::string rename_hint(const std::vector<CaseTarget>& missing_cases, const std::string& target) {
  std::vector<std::string> missing;
  for (const CaseTarget& key : missing_cases) {
    if (key.target == target) missing.push_back(printable(key.name));
  }
  if (missing.empty() || missing.size() > kMostMissingNames) return "";
  return "; the baseline has " + join(", ", missing) +
         ", which the suite has no more: if this case was renamed, was = \"" + missing.front() +
         "\" compares it with that module";
}

}  // namespace ferry::gate
