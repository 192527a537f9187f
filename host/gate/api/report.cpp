#include "host/gate/api/report.h"

namespace ferry::gate {

namespace {

constexpr int kFine = 0, kWorse = 1, kMistake = 2, kNoBoard = 3, kUnknown = 5;
// From the one that hides all others to the one that shows only where nothing else happened.
constexpr int kByImportance[] = {kMistake, kWorse, kNoBoard, kUnknown};

int exit_code(Verdict verdict, UnknownPolicy unknown) {
  switch (verdict) {
    case Verdict::unchanged:
    case Verdict::first:
    case Verdict::no_change:
    case Verdict::faster: return kFine;
    case Verdict::slower:
    case Verdict::wrong:
    case Verdict::over_limit: return kWorse;
    case Verdict::failed: return kMistake;
    case Verdict::infrastructure: return kNoBoard;
    case Verdict::cannot_tell: return unknown == UnknownPolicy::pass ? kFine : kUnknown;
    case Verdict::interrupted: return kUnknown;
  }
  return kUnknown;
}

}  // namespace

std::string to_text(const Environment& environment) {
  return environment.board + ", " + environment.processor + ", " + environment.kernel +
         (environment.governor.empty() ? "" : ", governor " + environment.governor);
}

int exit_code(const Report& report) {
  if (report.failure) return report.failure->exit_code;
  if (!report.store_failure.empty()) return kMistake;
  if (!report.missing.empty() && report.missing_policy == MissingPolicy::fail) return kMistake;
  for (const int code : kByImportance) {
    for (const CaseResult& result : report.cases) {
      if (!result.is_accepted && exit_code(result.verdict, report.unknown) == code) return code;
    }
  }
  return kFine;
}

}  // namespace ferry::gate
