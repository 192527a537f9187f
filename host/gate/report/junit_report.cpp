#include "host/gate/report/junit_report.h"

#include "base/quantity_text.h"
#include "host/gate/report/words.h"
#include "host/text/junit.h"

namespace ferry::gate {

namespace {

// The result that JUnit gives a test with this verdict.
enum class JUnitStatus : std::uint8_t { passed, failure, error };

JUnitStatus junit_status_of(Verdict verdict, UnknownPolicy unknown) {
  switch (verdict) {
    case Verdict::unchanged:
    case Verdict::first:
    case Verdict::no_change:
    case Verdict::faster: return JUnitStatus::passed;
    case Verdict::slower:
    case Verdict::wrong:
    case Verdict::over_limit: return JUnitStatus::failure;
    case Verdict::cannot_tell: return unknown == UnknownPolicy::pass ? JUnitStatus::passed : JUnitStatus::error;
    case Verdict::failed:
    case Verdict::infrastructure:
    case Verdict::interrupted: return JUnitStatus::error;
  }
  return JUnitStatus::error;
}

// The same in every run, so that a CI system finds the test again, whichever board measured.
std::string test_name_of(const CaseResult& result) {
  return result.board.empty() ? result.name : result.name + " on " + result.board;
}

std::string message_of(const CaseResult& result) {
  std::string message = to_text(result.verdict);
  const std::string change = change_text(result), reason = reason_of(result);
  if (!change.empty()) message += ": " + change;
  if (!reason.empty()) message += (change.empty() ? ": " : "; ") + reason;
  return message;
}

std::string output_of(const CaseResult& result) {
  std::string output = message_of(result) + "\n";
  if (board_of(result) != result.board) output += "measured on " + board_of(result) + "\n";
  if (is_new(result.new_baseline)) output += "its module is the baseline from now on\n";
  if (!result.inputs.empty()) output += "inputs: " + result.inputs + "\n";
  for (const Side side : kSides) {
    const std::string time = time_of(result.sides[side]);
    if (!time.empty()) output += std::string(name_of(side)) + ": " + time + "\n";
  }
  for (const LimitCheck& limit : limit_checks(result)) {
    output +=
        limit.name + ": " + limit.limit + ", " + (limit.measured.empty() ? "not measured" : limit.measured) + "\n";
  }
  for (const std::string& warning : result.warnings) output += "warning: " + warning + "\n";
  for (const NamedDiff& diff : diffs_of(result)) output += std::string("\n") + diff.name + "\n" + *diff.text;
  return output;
}

}  // namespace

std::string junit_report(const Report& report) {
  text::JUnitReport junit{"ferry gate " + report.suite, {}};
  if (report.failure) {
    text::JUnitCase& run = junit.cases.emplace_back("ferry gate");
    run.error = report.failure->message;
  }
  for (const CaseResult& result : report.cases) {
    text::JUnitCase& one = junit.cases.emplace_back(test_name_of(result));
    if (!time_of(result.sides[Side::current]).empty()) one.seconds = result.sides[Side::current].seconds;
    switch (result.is_accepted ? JUnitStatus::passed : junit_status_of(result.verdict, report.unknown)) {
      case JUnitStatus::passed: break;
      case JUnitStatus::failure: one.failure = message_of(result); break;
      case JUnitStatus::error: one.error = message_of(result); break;
    }
    one.output = output_of(result);
  }
  if (report.missing_policy == MissingPolicy::fail) {
    for (const std::string& name : report.missing)
      junit.cases.emplace_back(name).error = "the case of the baseline is no longer in the suite";
  }
  return text::junit_text(junit);
}

}  // namespace ferry::gate
